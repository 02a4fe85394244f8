local announce = include('announce')
local tell_waiters = include('tell_waiters')

-- After permits have become available, so many in all: tells everybody on the channel how many, as Redisson does, and
-- those in the line whose turn it is. Of none or fewer nobody is told: Redisson's clients break over such a message.
-- Comes last in a script and never fails: answers why nobody could be told, or ''.
-- queue: see in_turn
local function announce_permits(queue, available)
  if available < 1 then return '' end
  local why = announce(queue.channel, available, queue.sharded, queue)
  -- Nobody who has permits listens on, see tell_waiters: who hears more than the first two are others.
  queue.heard = queue.heard and queue.heard + 1
  local why_not_first = tell_waiters(queue, available)
  return why ~= '' and why or why_not_first
end
return announce_permits
