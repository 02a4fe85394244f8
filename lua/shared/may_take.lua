local waiter_of = include('waiter_of')
local note_waiter = include('note_waiter')
local tell_owner = include('tell_owner')
local drop_waiter = include('drop_waiter')

-- May `owner` take what is there, though others wait? A newcomer may be faster than the first of the line,
-- who is told and on its way: that keeps a crowd fast. But nobody is passed more than ten times, and a reader
-- never passes a writer. Who is dead or frozen leaves the line; who was frozen takes its old place when it asks
-- again.
-- Answers true; or false, and after how many ms to ask again (nothing: a message tells).
-- queue, needs, room, rest: see in_turn
local function may_take(queue, owner, needs, room, rest, time)
  if not queue.line then return true end
  local place = 0
  for _ = 1, 16 do
    local other = redis.call('zrange', queue.line, place, place)[1]
    if not other or other == owner then return true end
    local waiter = waiter_of(queue.waiters, other, time)
    if waiter and needs == 0 and waiter.needs == 0 then
      place = place + 1  -- it reads beside us
    elseif waiter and needs > 0 and waiter.passed < 10 then
      waiter.passed = waiter.passed + 1
      note_waiter(queue.waiters, other, waiter)
      return true
    elseif waiter and waiter.needs > room then
      -- Nobody tells it before there is room: that it hears its place shows that it lives.
      if tell_owner(queue, other, string.format('%d %.0f', place + 1, rest)) > 0 then return false end
      drop_waiter(queue, other)
    elseif waiter and waiter.told > 0 then
      return false, 260 - (time - waiter.told)
    elseif waiter and tell_owner(queue, other, '0') > 0 then
      waiter.told = time
      note_waiter(queue.waiters, other, waiter)
      return false, 260
    else
      drop_waiter(queue, other)
    end
  end
  if needs == 0 then return false, 260 end  -- there may be a writer behind so many
  return true
end
return may_take
