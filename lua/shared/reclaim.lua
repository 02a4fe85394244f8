-- Gives permits whose lease has ended back to their pool, and answers how many.
-- pool: string, how many are available; taken: zset id -> end of its lease; time: ms since the epoch
local function reclaim(pool, taken, time)
  local ended = redis.call('zrangebyscore', taken, 0, time)
  if #ended == 0 then return 0 end
  redis.call('incrby', pool, #ended)
  for _, id in ipairs(ended) do redis.call('zrem', taken, id) end
  return #ended
end
return reclaim
