local field_of = include('field_of')

-- How much room there is at a lock, as in_turn wants it: 1 it is free, 0 others read, -1 it is held alone.
local function room_of(lock)
  if redis.call('exists', lock) == 0 then return 1 end
  return field_of(lock, 'mode', 5) == 'read' and 0 or -1
end
return room_of
