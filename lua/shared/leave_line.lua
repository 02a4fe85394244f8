local waiter_of = include('waiter_of')
local tell_owner = include('tell_owner')
local drop_waiter = include('drop_waiter')

-- Takes `owner` out of the line, if it is there, and answers whether it was. Whoever becomes first or second
-- by that is told so, and for how long the holder may keep the lock at most (`rest`, ms; -1: it has no TTL):
-- those two listen for releases of other clients. Who cannot hear it is dead, and the next takes its place.
-- Who has been told that it is its turn needs no place.
-- queue: see in_turn
local function leave_line(queue, owner, rest)
  if not queue.line then return false end
  local arrived = redis.call('zscore', queue.line, owner)
  if not arrived then return false end
  local ahead = redis.call('zcount', queue.line, '-inf', '(' .. arrived)
  drop_waiter(queue, owner)
  local place, dead = ahead + 1, 0
  while place <= 2 and dead < 16 do
    local other = redis.call('zrange', queue.line, place - 1, place - 1)[1]
    if not other then break end
    local waiter = waiter_of(queue, other)
    local moved = waiter and waiter.told == 0
    if moved and tell_owner(queue, other, string.format('%d %.0f', place, rest)) == 0 then
      drop_waiter(queue, other)
      dead = dead + 1
    else
      place = place + 1
    end
  end
  return true
end
return leave_line
