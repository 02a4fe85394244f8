-- Undo semaphore/acquire or semaphore/drain, whether it was done or not: release the permits, or give up the place in the line.
-- After that, a late copy acquires nothing.
-- This call may be sent twice.
--
-- KEYS  pool     string: the number of permits that are available
--       request  string: how many permits this request has acquired; 0: none, or it was undone
--       line: order, waiters, facts  the waiters, see line/in_turn
-- ARGV  owner    the owner that has asked
--       channel  permits are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
-- ->    {released, why}  why: the reason why waiters could not be told; '': they were told
--       {not_ours}       no permits were released: it had acquired none, or the semaphore is gone
local kind_of = include('redis/kind_of')
local announce_permits = include('permits/announce_permits')
local leave_line = include('line/leave_line')
local tell_waiters = include('line/tell_waiters')
local tell_each = include('line/tell_each')

local acquired = tonumber(redis.call('get', request) or 0)
redis.call('del', request)  -- first: it needs no memory
redis.call('set', request, 0, 'px', memory)
local is_pool = kind_of(pool) == 'number'
if acquired > 0 and is_pool then
  return {'released', announce_permits(line, redis.call('incrby', pool, acquired))}
end
local done, left = pcall(leave_line, line, owner, -2)
if not done or not left then return {'not_ours'} end
if is_pool then
  tell_waiters(line, tonumber(redis.call('get', pool)))
else  -- the semaphore is gone: the next waiter sees that, too
  tell_each(line, redis.call('zrange', line.order, 0, 0))
end
return {'not_ours'}
