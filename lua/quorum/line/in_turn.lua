local holder_of = include('hold/holder_of')

-- As lua/shared/line/in_turn, for a lock on several servers. They would order the waiters in different ways, so there is no line:
-- the owner that finds the lock free acquires it. Why these files exist: CONTRIBUTING.md, "Lua".
local function in_turn(_, ask)
  if ask.ours or ask.needs <= ask.room then return ask.over and {'not_ours'} end
  return {'busy', ask.rest, ask.rest, 0, 0, ask.lock and holder_of(ask.lock) or ''}
end
return in_turn
