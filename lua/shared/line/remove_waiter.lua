-- Removes `owner` from the line, with all that is known of it. If the owner is frozen and others wait, its notes stay: it gets
-- its old place when it asks again. line: see in_turn
local function remove_waiter(line, owner, frozen)
  redis.call('zrem', line.order, owner)
  if redis.call('zcard', line.order) == 0 then return redis.call('del', line.waiters, line.facts) end
  if frozen then return end
  redis.call('hdel', line.waiters, owner)
  redis.call('hdel', line.facts, owner)
end
return remove_waiter
