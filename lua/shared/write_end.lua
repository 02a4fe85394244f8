-- Write into a history, a zset of "<owner>\n<JSON>" by the time of the end, how a hold ended. An end of this
-- owner after `since` is that of the same hold: then nothing is written, so no copy counts twice and whoever ended
-- it first has the last word. The oldest give way to 20 others.
local function write_end(history, owner, since, ended, entry)
  local begin = owner .. '\n'
  local later = redis.call('zrangebyscore', history, since, '+inf', 'limit', 0, 100)
  for i = 1, #later do
    if string.sub(later[i], 1, #begin) == begin then return end
  end
  local stays = 7 * 24 * 3600 * 1000
  -- Who may not do this must learn it before there is a history without a TTL.
  redis.call('pexpire', history, stays)
  redis.call('zadd', history, ended, begin .. entry)
  redis.call('pexpire', history, stays)
  local too_many = math.min(redis.call('zcard', history) - 20, 100)
  if too_many > 0 then redis.call('zrem', history, unpack(redis.call('zrange', history, 0, too_many - 1))) end
end
return write_end
