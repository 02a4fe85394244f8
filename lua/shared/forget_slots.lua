local in_pieces = include('in_pieces')

-- Frees the slots of permits that are not taken any more, by the tails of their ids. When no permit is taken,
-- nothing of the slots is left. slots: see mend_slots
local function forget_slots(taken, slots, tails)
  if redis.call('exists', taken) == 0 then return redis.call('del', slots) end
  if redis.call('type', slots).ok == 'zset' then in_pieces('zrem', slots, tails) end
end
return forget_slots
