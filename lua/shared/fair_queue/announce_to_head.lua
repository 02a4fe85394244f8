local now = include('redis/now')
local mended_queue = include('fair_queue/mended_queue')
local wake_head = include('fair_queue/wake_head')

-- Wakes up the head of a fair queue, if there is one. A script calls it last. It never fails: it answers why the head could not
-- be told, or ''. queue: see mended_queue
local function announce_to_head(queue)
  if redis.call('exists', queue.order, queue.alive) == 0 then return '' end
  local time = now()
  local done, place, found, key = pcall(mended_queue, queue, time, '')
  if not done then return type(place) == 'table' and place.err or tostring(place) end
  if not place then return key .. (found == 'too_many' and ' has too many items' or ' is a ' .. found) end
  return wake_head(queue, time)
end
return announce_to_head
