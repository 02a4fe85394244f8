local field_of = include('redis/field_of')
local load_line = include('line/load_line')
local comes_within = include('line/comes_within')

-- What the line knows of a waiter; nil if it does not wait. In the hash it is one text of five numbers, and the word `far` or
-- nothing:
--   alive    the waiter counts as alive until then, in ms since the epoch
--   arrived  in microseconds since the epoch: its score in the line
--   needs    the number of permits; of a lock 1, or 0 to read beside others
--   told     when it was told of its turn, in ms since the epoch; 0: it was not told since it last asked
--   before   how often newcomers had passed the line before it arrived (see may_take)
--   far      it may be far away from the server, so it has more time to come (see take_place)
-- and from that
--   overdue  newcomers passed it ten times, and may not pass it again
--   on_its_way_for  for how many ms it may be on its way after it was told
--
-- If `time` is given (now, ms), the answer is also nil for a dead waiter. For a frozen one it is nil and true: the waiter was
-- told, and did not come in time.
-- line: see in_turn
local function waiter_of(line, owner, time)
  load_line(line)
  local text = field_of(line.waiters, owner, 100) or ''
  local alive, arrived, needs, told, before, word = text:match('^(%d+) (%d+) (%d+) (%d+) (%d+)( ?%l*)$')
  if not alive then return nil end
  alive, told = tonumber(alive), tonumber(told)
  local overdue = line.passes - before >= 10
  local far = word == ' far'
  local on_its_way_for = (overdue or far) and 1000 or comes_within  -- so that a distant waiter gets its turn, too
  if time and told > time then told = 0 end  -- the clock was set back
  if time and alive <= time then return nil end
  if time and told > 0 and time - told >= on_its_way_for then return nil, true end
  return {
    alive = alive, arrived = arrived, needs = tonumber(needs), told = told, before = tonumber(before),
    far = far, overdue = overdue, on_its_way_for = on_its_way_for,
  }
end
return waiter_of
