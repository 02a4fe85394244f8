-- Make a semaphore or a pool of permits, unless there is one.
-- This call may be sent twice: the server remembers the request, and the second copy is told that it has made it.
--
-- KEYS  pool     string: the number of permits that are available
--       request  string: the answer to this request
--       line: order, waiters, facts  the waiters, see line/in_turn
--       taken    optional, only of a pool, zset: id -> end of its lease. The permits of an earlier pool count as taken from
--                this one
-- ARGV  total    number of permits
--       channel  permits are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
--       expire   number of ms after which the semaphore or pool expires; 0: never
-- ->    {done, why}      it is made. why: the reason why waiters could not be told; '': they were told
--       {exists}         there is one already, and it stays as it is
--       {foreign, kind}  one of the keys holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local announce_permits = include('permits/announce_permits')
local taken_permits = include('permits/taken_permits')

if redis.call('exists', request) == 1 then return {'done', ''} end
local kind = kind_of(pool)
if kind == 'number' then return {'exists'} end
if kind ~= 'none' then return {'foreign', kind} end
local kind_taken = taken and taken_permits(taken) or 'none'
if kind_taken ~= 'none' and kind_taken ~= 'zset' then return {'foreign', kind_taken} end

if kind_taken == 'zset' then
  redis.call('zremrangebyscore', taken, 0, now())
  total = total - redis.call('zcard', taken)
end
redis.call('set', request, 1, 'px', memory)
if expire > 0 then
  redis.call('set', pool, total, 'px', expire)
else
  redis.call('set', pool, total)
end
return {'done', announce_permits(line, total)}
