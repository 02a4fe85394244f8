local field_of = include('redis/field_of')

-- Reads, once in a script, what the line knows of all waiters. It is in the hash of the waiters, under the empty name:
--   line.passes  how often newcomers have passed the line (see may_take)
--   line.others  until then, in ms since the epoch, other clients than rlock's waiters count as waiting, too. A time in
--                the past: since then they may wait, see tell_waiters; 0: they do not
local function load_line(line)
  if line.passes then return end
  local passes, others = string.match(field_of(line.waiters, '', 40) or '', '^(%d+) (%d+)$')
  line.passes, line.others = tonumber(passes or 0), tonumber(others or 0)
end
return load_line
