local tell_owner = include('line/tell_owner')

-- Tells each of these waiters to ask again, whatever its place is. line: see in_turn
local function tell_each(line, owners)
  for _, owner in ipairs(owners) do tell_owner(line, owner, '0') end
end
return tell_each
