local now = include('now')
local waiter_of = include('waiter_of')
local note_waiter = include('note_waiter')
local tell_owner = include('tell_owner')
local drop_waiter = include('drop_waiter')
local load_line = include('load_line')
local note_line = include('note_line')

-- What the first is told. Others than rlock's waiters have heard of the release, too, and need longer to ask, since
-- ours are ready: so these leave two of three releases to them, for a moment.
local function message_of(queue, time)
  local length = queue.heard and redis.call('zcard', queue.line) or 0
  if length == 0 then return '0' end
  load_line(queue)
  -- The first two listen where releases are announced, or will; and so may whoever has given the lock back.
  if queue.heard > math.min(length, 2) + 1 and queue.others < time + 1000 then
    queue.others = time + 2000
    note_line(queue)
  end
  return queue.others > time and time % 3 > 0 and 'later 10' or '0'
end

local function tell_in_order(queue, room, rest_only)
  local time, place, dead = now(), 0, 0
  local message = message_of(queue, time)
  while place < 500 and dead < 500 do
    local owner = redis.call('zrange', queue.line, place, place)[1]
    if not owner then return '' end
    local waiter, frozen = waiter_of(queue, owner, time)
    if rest_only and waiter and waiter.told > 0 then return '' end
    local too_much = waiter and waiter.needs > room
    if too_much and (room < 1 or waiter.passed >= 10) then return '' end
    local heard, why = 0, nil
    if waiter and not too_much then heard, why = tell_owner(queue, owner, message) end
    if why then return why end
    if too_much then
      place = place + 1  -- what is there serves one behind it
    elseif heard == 0 then
      drop_waiter(queue, owner, frozen)
      dead = dead + 1
    else
      waiter.told = waiter.told > 0 and waiter.told or time
      note_waiter(queue, owner, waiter)
      place = place + 1
      if waiter.needs > 0 and waiter.needs == room then
        -- Who has become second does not know it, and is to ask when the first is frozen.
        local second = dead > 0 and place == 1 and redis.call('zrange', queue.line, 1, 1)[1]
        if second then tell_owner(queue, second, '2 0') end
        return ''
      end
      room = waiter.needs == 0 and 0 or room - waiter.needs
    end
  end
  return ''
end

-- Tells those in the line whose turn it is: the first, or the first readers together, or as many as `room`
-- serves (see in_turn). Who cannot hear is dead, and the next is told; those behind 500 of them ask by
-- themselves. Comes last in a script and never fails: answers why nobody could be told, or ''.
-- rest_only: somebody has just taken a part of the room; where the first has been told, all were.
-- queue: see in_turn
local function tell_waiters(queue, room, rest_only)
  if not queue or not queue.line then return '' end
  local done, why = pcall(tell_in_order, queue, room, rest_only)
  if done then return why end
  return type(why) == 'table' and why.err or tostring(why)
end
return tell_waiters
