local waiter_of = include('waiter_of')
local note_waiter = include('note_waiter')
local note_line = include('note_line')
local tell_owner = include('tell_owner')
local drop_waiter = include('drop_waiter')

-- May `owner` take what is there, though others wait? A newcomer may be faster than the first of the line,
-- who is told and on its way: that keeps a crowd fast. But nobody in the line is passed more than ten times by
-- newcomers, and a reader never passes a writer. Who is dead or frozen leaves the line.
-- Answers true; or false, and after how many ms to ask again (nothing: a message tells).
-- queue, needs, room, rest: see in_turn
local function may_take(queue, owner, needs, room, rest, time)
  if not queue.line then return true end
  local place = 0
  for _ = 1, 16 do
    local other = redis.call('zrange', queue.line, place, place)[1]
    if not other or other == owner then return true end
    local waiter, frozen = waiter_of(queue, other, time)
    if waiter and needs == 0 and waiter.needs == 0 then
      place = place + 1  -- it reads beside us
    elseif waiter and needs > 0 and waiter.passed < 10 then
      -- One number for all: the first came first, so it has been passed most.
      if place == 0 then
        queue.passes = queue.passes + 1
        note_line(queue)
      end
      return true
    elseif waiter and waiter.needs > room then
      -- Nobody tells it before there is room: that it hears its place shows that it lives.
      if tell_owner(queue, other, string.format('%d %.0f', place + 1, rest)) > 0 then return false end
      drop_waiter(queue, other)
    elseif waiter and waiter.told > 0 then
      return false, waiter.patience + 10 - (time - waiter.told)
    elseif waiter and tell_owner(queue, other, '0') > 0 then
      waiter.told = time
      note_waiter(queue, other, waiter)
      return false, waiter.patience + 10
    else
      drop_waiter(queue, other, frozen)
    end
  end
  if needs == 0 then return false, 260 end  -- there may be a writer behind so many
  return true
end
return may_take
