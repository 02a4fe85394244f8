local tell_owner = include('line/tell_owner')

-- Tells the new head of the queue that it is the first, and the rest of the holder's lease. The lock is held. The head then
-- asks when that lease ends, in case the holder has died. A waiter that does not know that it is the head asks only once in a
-- third of its own lease. Redisson's waiters do not know this message, so they do not get it. A script calls this function
-- last. It never fails.
-- queue: see mended_queue; rest: in ms; -1: the lock has no TTL
local function tell_new_head(queue, rest)
  local head = redis.pcall('lindex', queue.order, 0)
  if type(head) ~= 'string' or redis.pcall('hexists', queue.alive, head) ~= 1 then return end
  tell_owner(queue, head, string.format('1 %.0f', rest))
end
return tell_new_head
