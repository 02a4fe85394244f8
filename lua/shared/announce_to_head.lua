local now = include('now')
local mended_queue = include('mended_queue')
local wake_head = include('wake_head')

-- Wakes the head of a fair queue, if there is one (see mended_queue for the keys). Comes last in a script and
-- never fails: answers why nobody could be told, or ''.
local function announce_to_head(queue, deadlines, waiters, channel, sharded)
  if channel == '' or redis.call('exists', queue, waiters) == 0 then return '' end
  local time = now()
  local done, place, found, key = pcall(mended_queue, queue, deadlines, waiters, time, '')
  if not done then return type(place) == 'table' and place.err or tostring(place) end
  if not place then return key .. (found == 'crowd' and ' has too many items' or ' is a ' .. found) end
  return wake_head(queue, deadlines, waiters, time, channel, sharded)
end
return announce_to_head
