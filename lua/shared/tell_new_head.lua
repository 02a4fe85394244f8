local tell_owner = include('tell_owner')

-- While somebody holds a fair lock: tells its waiter that has just become the head of the queue that it is the
-- first, and for how long the holder may keep the lock at most (`rest`, ms; -1: it has no TTL). The head asks
-- when the lease ends, in case that the holder has died; who does not know that it is the head asks a third of
-- its own lease later. Only rlock's waiters: those of Redisson do not know this message. Comes last and never
-- fails.
local function tell_new_head(queue, waiters, channel, sharded, rest)
  local head = redis.pcall('lindex', queue, 0)
  if type(head) ~= 'string' or redis.pcall('hexists', waiters, head) ~= 1 then return end
  tell_owner({channel = channel, sharded = sharded}, head, string.format('1 %.0f', rest))
end
return tell_new_head
