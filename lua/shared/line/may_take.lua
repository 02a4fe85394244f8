local waiter_of = include('line/waiter_of')
local write_note = include('line/write_note')
local tell_owner = include('line/tell_owner')
local remove_waiter = include('line/remove_waiter')
local remove_dead = include('line/remove_dead')
local alive_until = include('line/alive_until')
local comes_within = include('line/comes_within')

-- May the owner take what is there, although others wait? A newcomer may be faster than the first waiter, which was told and is
-- on its way. That keeps a crowd fast. But newcomers pass no waiter more than ten times, and a reader never passes a writer. A
-- waiter that is dead or frozen leaves the line.
-- Answers true, or three values:
--   false
--   after how many ms the owner asks again; nil: a message will come
--   after how many ms at the latest the second waiter asks again, in case the first one freezes, and a little later the third;
--   nil: as usual
-- line, ask: see in_turn
local function may_take(line, ask)
  local needs, time = ask.needs, ask.time
  if not line.order then return true end
  local own = needs == 0 and waiter_of(line, ask.owner)
  if own and own.alive > time and own.told > 0 then
    return true  -- all before it are readers, and were told, too: see tell_waiters
  end
  local silent_for = 3000  -- the first asks every 2000 ms: after this long, it may be frozen, and must ask now
  local place = 0
  for _ = 1, 16 do  -- a bound: many dead waiters may stand in front
    local other = redis.call('zrange', line.order, place, place)[1]
    if not other or other == ask.owner then return true end
    local waiter, frozen = waiter_of(line, other, time)
    -- For how many ms it has not asked, as the first. Less than 0: it asked when it was further behind.
    local silent = waiter and alive_until(time, 1) - waiter.alive
    if waiter and needs == 0 and waiter.needs == 0 then
      place = place + 1  -- both want to read, so they can read together
    elseif waiter and needs > 0 and not waiter.overdue then
      -- The line has one count for all its waiters. The first waiter has been passed most often. Only if it had lost its place,
      -- and has just come back to the front, it begins at 0.
      line.passes = line.passes + 1
      line.passed = true
      write_note(line, '')
      return true
    elseif waiter and waiter.needs > ask.room and silent < silent_for then
      -- There is no room for it yet, so it is told its place only. If it hears that, it lives. One that has just become first
      -- has silent_for to ask, too.
      if silent < 0 then
        waiter.alive, silent = alive_until(time, 1), 0
        write_note(line, other, waiter)
      end
      if tell_owner(line, other, string.format('%d %.0f', place + 1, ask.rest)) > 0 then
        return false, nil, silent_for + 10 - silent
      end
      remove_waiter(line, other)
    elseif waiter and waiter.told > 0 then
      return false, waiter.on_its_way_for + 10 - (time - waiter.told)
    elseif waiter and tell_owner(line, other, '0') > 0 then
      waiter.told = time
      write_note(line, other, waiter)
      return false, waiter.on_its_way_for + 10
    elseif waiter or frozen then
      remove_waiter(line, other, frozen)
    else
      remove_dead(line, other)
    end
  end
  if needs == 0 then return false, comes_within + 10 end  -- there may be a writer behind these
  return true
end
return may_take
