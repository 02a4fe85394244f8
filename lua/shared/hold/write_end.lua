local write_with_ttl = include('redis/write_with_ttl')

-- Writes into a history how a hold has ended. The history is a zset of "<owner>\n<JSON>" by the time of the end, of at most 20
-- entries. If it has an end of this owner from `since` on, that was the end of the same hold, and the function writes nothing.
-- So a copy of the call adds nothing, and the first client that ends the hold decides what is written.
local function write_end(history, owner, since, ended, entry)
  local begin = owner .. '\n'
  -- It looks at 50 entries at most, because other clients may have added any number.
  for _, past in pairs(redis.call('zrangebyscore', history, since, '+inf', 'limit', 0, 50)) do
    if past:sub(1, #begin) == begin then return end
  end
  write_with_ttl('zadd', history, 604800000, ended, begin .. entry)  -- ms: a week
  if redis.call('zcard', history) > 20 then redis.call('zrem', history, redis.call('zrange', history, 0, 0)[1]) end
end
return write_end
