local forget_slots = include('permits/forget_slots')
local slot_in = include('permits/slot_in')

-- Gives permits whose lease has ended back to their pool, and answers how many.
-- pool: string, the number of permits that are available; taken: zset id -> end of its lease; slots: see mend_slots; time: ms
-- since the epoch
local function reclaim(pool, taken, slots, time)
  local ended, tails = redis.call('zrangebyscore', taken, 0, time), {}
  if #ended == 0 then return 0 end
  for _, id in ipairs(ended) do
    local _, tail = slot_in(id)
    tails[#tails + 1] = tail
  end
  redis.call('zremrangebyscore', taken, 1, 0)  -- removes nothing; a client without this right fails before the pool grows
  redis.call('incrby', pool, #ended)
  redis.call('zremrangebyscore', taken, 0, time)
  forget_slots(taken, slots, tails)
  return #ended
end
return reclaim
