local field_of = include('field_of')

-- Reads what the line knows of all who wait, once in a script; it is in the hash of the waiters, under nobody's name:
--   queue.passes  how often newcomers have passed the line (see may_take)
--   queue.others  until then (ms since the epoch) others than rlock's waiters count as waiting, too
local function load_line(queue)
  if queue.passes then return end
  local passes, others = string.match(field_of(queue.waiters, '', 40) or '', '^(%d+) (%d+)$')
  queue.passes, queue.others = tonumber(passes or 0), tonumber(others or 0)
end
return load_line
