-- Gives permits whose lease has ended back to their pool, and answers how many.
-- pool: string, how many are available; taken: zset id -> end of its lease; time: ms since the epoch
local function reclaim(pool, taken, time)
  local ended = redis.call('zcount', taken, 0, time)
  if ended == 0 then return 0 end
  redis.call('incrby', pool, ended)
  redis.call('zremrangebyscore', taken, 0, time)
  return ended
end
return reclaim
