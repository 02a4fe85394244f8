local in_pieces = include('redis/in_pieces')

-- Frees the slots of permits that are released, by the tails of their ids. If no permit is taken, it deletes all slots. slots:
-- see mend_slots
local function forget_slots(taken, slots, tails)
  if redis.call('exists', taken) == 0 then return redis.call('del', slots) end
  if redis.call('type', slots).ok == 'zset' then in_pieces('zrem', slots, tails) end
end
return forget_slots
