-- Takes `owner` out of the line, with all that is known of it; of who is frozen that is kept while others wait: it takes
-- its old place when it asks again. queue: see in_turn
local function drop_waiter(queue, owner, frozen)
  redis.call('zrem', queue.line, owner)
  if redis.call('zcard', queue.line) == 0 then return redis.call('del', queue.waiters, queue.facts) end
  if frozen then return end
  redis.call('hdel', queue.waiters, owner)
  redis.call('hdel', queue.facts, owner)
end
return drop_waiter
