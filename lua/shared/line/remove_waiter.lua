local newest_of = include('line/newest_of')
local note_newest = include('line/note_newest')

-- Removes `owner` from the line, with all that is known of it. If the owner is frozen and others wait, its notes stay: it gets
-- its old place when it asks again. But it may have been killed, so there are at most about thirty such notes. The record of the
-- newest waiter stays (see newest_of). line: see in_turn
local function remove_waiter(line, owner, frozen)
  redis.call('zrem', line.order, owner)
  if redis.call('zcard', line.order) == 0 then
    local newest = redis.call('hexists', line.waiters, ' newest') == 1 and newest_of(line)
    redis.call('del', line.waiters, line.facts)
    if newest then note_newest(line) end
    return
  end
  if frozen and redis.call('hlen', line.waiters) < redis.call('zcard', line.order) + 32 then return end
  redis.call('hdel', line.waiters, owner)
  redis.call('hdel', line.facts, owner)
end
return remove_waiter
