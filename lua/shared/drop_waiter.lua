-- Takes `owner` out of the line, with all that is known of it. queue: see in_turn
local function drop_waiter(queue, owner)
  redis.call('zrem', queue.line, owner)
  redis.call('hdel', queue.waiters, owner)
  redis.call('hdel', queue.facts, owner)
end
return drop_waiter
