local field_of = include('redis/field_of')

-- How much room a lock has, as in_turn wants it. 1: it is free; 0: others read; -1: an owner has it alone, or the key is no lock.
local function room_of(lock)
  local kind = redis.call('type', lock).ok
  if kind == 'none' then return 1 end
  return kind == 'hash' and field_of(lock, 'mode', 5) == 'read' and 0 or -1
end
return room_of
