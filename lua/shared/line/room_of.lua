local field_of = include('redis/field_of')

-- How much room a lock has, as in_turn wants it: 1: it is free, 0: others read, -1: an owner has it alone.
local function room_of(lock)
  if redis.call('exists', lock) == 0 then return 1 end
  return field_of(lock, 'mode', 5) == 'read' and 0 or -1
end
return room_of
