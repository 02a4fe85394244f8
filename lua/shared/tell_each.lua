local tell_owner = include('tell_owner')

-- Tells each of them, whatever its place, that it is worth asking again. queue: see in_turn
local function tell_each(queue, owners)
  for _, owner in ipairs(owners) do tell_owner(queue, owner, '0') end
end
return tell_each
