local waiter_of = include('line/waiter_of')
local tell_owner = include('line/tell_owner')
local remove_waiter = include('line/remove_waiter')

-- Tells the waiters at the places `first` to `last` (1: the first of the line) their places, and `rest`. A waiter that
-- does not hear the message is dead, and the next one takes its place. A waiter that knows that it is its turn need not know its
-- place.
-- line: see in_turn
-- rest: for how many ms the holder may keep the lock; -1: it has no TTL. 0: nothing is held, so they ask soon unless they get
-- another message
local function tell_places(line, first, last, rest)
  local place, dead = first, 0
  while place <= last and dead < 16 do
    local other = redis.call('zrange', line.order, place - 1, place - 1)[1]
    if not other then return end
    local waiter = waiter_of(line, other)
    local moved = waiter and waiter.told == 0
    if moved and tell_owner(line, other, string.format('%d %.0f', place, rest)) == 0 then
      remove_waiter(line, other)
      dead = dead + 1
    else
      place = place + 1
    end
  end
end
return tell_places
