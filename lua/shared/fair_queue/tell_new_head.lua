local tell_owner = include('line/tell_owner')

-- For a fair lock that is held: tells the new head of the queue that it is the first, and for how long the holder may keep the
-- lock at most (`rest`, ms; -1: it has no TTL). Then the head asks when the lease ends, in case the holder has died. A
-- waiter that does not know that it is the head asks only once in a third of its own lease. Redisson's waiters do not know this
-- message, so they do not get it. A script calls this function last. It never fails. queue: see mended_queue
local function tell_new_head(queue, rest)
  local head = redis.pcall('lindex', queue.order, 0)
  if type(head) ~= 'string' or redis.pcall('hexists', queue.alive, head) ~= 1 then return end
  tell_owner(queue, head, string.format('1 %.0f', rest))
end
return tell_new_head
