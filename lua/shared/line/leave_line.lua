local waiter_of = include('line/waiter_of')
local tell_owner = include('line/tell_owner')
local remove_waiter = include('line/remove_waiter')

-- Removes `owner` from the line, and answers whether it was there. The waiters that become first or second by that are told
-- so, and for how long the holder may keep the lock at most (`rest`, ms; -1: it has no TTL): these two listen to the releases
-- of other clients, too. A waiter that cannot hear the message is dead, and the next one takes its place. A waiter that knows
-- that it is its turn need not know its place.
-- line: see in_turn
local function leave_line(line, owner, rest)
  if not line.order then return false end
  local arrived = redis.call('zscore', line.order, owner)
  if not arrived then
    -- The owner has waited, but its line was lost, and the other waiters have not noticed (see take_place).
    if (line.waited or -1) > 0 and redis.call('exists', line.order) == 0 then tell_owner(line, '', '0') end
    return false
  end
  local ahead = redis.call('zcount', line.order, '-inf', '(' .. arrived)
  remove_waiter(line, owner)
  local place, dead = ahead + 1, 0
  while place <= 2 and dead < 16 do
    local other = redis.call('zrange', line.order, place - 1, place - 1)[1]
    if not other then break end
    local waiter = waiter_of(line, other)
    local moved = waiter and waiter.told == 0
    if moved and tell_owner(line, other, string.format('%d %.0f', place, rest)) == 0 then
      remove_waiter(line, other)
      dead = dead + 1
    else
      place = place + 1
    end
  end
  return true
end
return leave_line
