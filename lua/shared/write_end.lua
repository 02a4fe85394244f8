-- Write into a history, a zset of "<owner>\n<JSON>" by the time of the end, how a hold ended. An end of this
-- owner after `since` is that of the same hold: then nothing is written, so no copy counts twice and whoever ended
-- it first has the last word. Of more than 20 the oldest goes.
local function write_end(history, owner, since, ended, entry)
  local begin = owner .. '\n'
  for _, past in pairs(redis.call('zrangebyscore', history, since, '+inf', 'limit', 0, 50)) do
    if past:sub(1, #begin) == begin then return end
  end
  local stays = 604800000  -- ms: a week
  -- Who may not do this must learn it before there is a history without a TTL.
  redis.call('pexpire', history, stays)
  redis.call('zadd', history, ended, begin .. entry)
  redis.call('pexpire', history, stays)
  if redis.call('zcard', history) > 20 then redis.call('zrem', history, redis.call('zrange', history, 0, 0)[1]) end
end
return write_end
