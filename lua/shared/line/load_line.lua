local field_of = include('redis/field_of')

-- Reads the note of the line itself, once in a script. The note is in the hash of the waiters, under the empty name:
--   line.passes  how often newcomers have passed the line (see may_take)
--   line.others  a time in ms since the epoch; 0: only rlock waits. In the future: until then, other clients count as waiting,
--                too. In the past: since then they may wait, see tell_waiters
local function load_line(line)
  if line.passes then return end
  local passes, others = (field_of(line.waiters, '', 40) or ''):match('^(%d+) (%d+)$')
  line.passes, line.others = tonumber(passes or 0), tonumber(others or 0)
end
return load_line
