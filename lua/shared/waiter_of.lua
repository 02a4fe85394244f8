local field_of = include('field_of')

-- What the line knows of a waiter; nothing where it does not wait. In the hash it is one text of five numbers:
--   alive    it counts as alive until then (ms since the epoch)
--   arrived  in microseconds since the epoch: its score in the line
--   needs    how many permits; of a lock 1, or 0 to read beside others
--   told     when it was told that it is its turn (ms); 0: not since it asked
--   passed   how often others took first what it waits for
-- With `time` (now, ms) nothing, too, of who is dead, or frozen: it was told, and has not come for a quarter of
-- a second.
local function waiter_of(waiters, owner, time)
  local text = field_of(waiters, owner, 100) or ''
  local alive, arrived, needs, told, passed = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  if not alive then return nil end
  alive, told = tonumber(alive), tonumber(told)
  if time and told > time then told = 0 end  -- the clock was set back
  if time and (alive <= time or told > 0 and time - told >= 250) then return nil end
  return { alive = alive, arrived = arrived, needs = tonumber(needs), told = told, passed = tonumber(passed) }
end
return waiter_of
