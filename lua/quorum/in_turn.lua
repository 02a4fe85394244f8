local holder_of = include('holder_of')

-- As lua/shared/in_turn, for a lock on several servers: each would order those who wait in another way, so there
-- is no line, and whoever finds the lock free takes it.
local function in_turn(_, _, ours, over, needs, room, rest, lock)
  if over and (ours or needs <= room) then return {'not_ours'} end
  if ours or needs <= room then return nil end
  return {'busy', rest, rest, 0, 0, lock and holder_of(lock) or ''}
end
return in_turn
