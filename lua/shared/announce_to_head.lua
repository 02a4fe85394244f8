local now = include('now')
local announce = include('announce')
local mended_queue = include('mended_queue')

-- Wakes the head of a fair queue, if there is one (see mended_queue for the keys). Comes last in a script and never
-- fails: answers why nobody could be told, or ''.
local function announce_to_head(queue, deadlines, waiters, channel, sharded)
  if channel == '' or redis.call('exists', queue, waiters) == 0 then return '' end
  local done, line, found, key = pcall(mended_queue, queue, deadlines, waiters, now())
  if not done then return type(line) == 'table' and line.err or tostring(line) end
  if not line then return key .. ' is a ' .. found end
  if not line[1] then return '' end
  return announce(channel .. ':' .. line[1], '0', sharded)
end
return announce_to_head
