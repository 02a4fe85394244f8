-- Delete a semaphore, or a pool with all permits that are taken from it. The waiters are told, and see that there is none.
-- This call may be sent twice: the server remembers the request.
--
-- KEYS  pool     string: the number of permits that are available
--       request  string: it exists if this request was done
--       line: order, waiters, facts  the waiters, see line/in_turn
--       taken    optional, only of a pool, zset: id -> end of its lease
--       slots    optional, only of a pool, zset: see permits/mend_slots
-- ARGV  channel  each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
-- ->    {done}           the semaphore or pool is deleted
--       {absent}         there is no semaphore or pool
--       {foreign, kind}  one of the keys holds something else
local kind_of = include('redis/kind_of')
local discard = include('redis/discard')
local tell_all = include('line/tell_all')

if redis.call('exists', request) == 1 then return {'done'} end
local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end
if taken then
  local kind_taken = redis.call('type', taken).ok
  if kind_taken ~= 'none' and kind_taken ~= 'zset' then return {'foreign', 'permits'} end
end

redis.call('del', pool)  -- first: it needs no memory
redis.call('set', request, 1, 'px', memory)
if taken then
  discard(taken)
  discard(slots)
end
tell_all(line)
return {'done'}
