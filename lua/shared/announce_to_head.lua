local now = include('now')
local mended_queue = include('mended_queue')
local wake_head = include('wake_head')

-- Wakes the head of a fair queue, if there is one (see mended_queue for the keys). Comes last in a script and never
-- fails: answers why nobody could be told, or ''.
local function announce_to_head(queue, deadlines, waiters, channel, sharded)
  if channel == '' or redis.call('exists', queue, waiters) == 0 then return '' end
  local time = now()
  local done, line, deadline_of, arrived = pcall(mended_queue, queue, deadlines, waiters, time)
  if not done then return type(line) == 'table' and line.err or tostring(line) end
  if not line then return arrived .. ' is a ' .. deadline_of end
  return wake_head(line, deadline_of, arrived, deadlines, waiters, time, channel, sharded)
end
return announce_to_head
