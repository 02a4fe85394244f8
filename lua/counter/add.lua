-- Change the number of permits that are available, and wake up the waiters if there are more. This script never makes a
-- semaphore or a pool.
-- It releases the permits of a semaphore, and makes a semaphore or a pool larger or smaller.
-- This call may be sent twice: the server remembers the request, and the second copy gets the same answer and adds nothing.
--
-- KEYS  pool     string: the number of permits that are available
--       request  string: the answer to this request
--       line: order, waiters, facts  the waiters, see line/in_turn
-- ARGV  count    how many permits to add; negative: to take away
--       channel  permits are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
-- ->    {done, available, why}  why: the reason why waiters could not be told; '': they were told, or no permit was added
--       {absent}                there is no semaphore or pool
--       {foreign, kind}         the key holds something else
local kind_of = include('redis/kind_of')
local announce_permits = include('permits/announce_permits')

local answered = redis.call('get', request)
if answered then return {'done', tonumber(answered), ''} end
local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end

redis.call('del', request)  -- first: it needs no memory
redis.call('set', request, '', 'xx')  -- sets nothing; a client without this right fails before it adds
local available = redis.call('incrby', pool, count)
redis.call('set', request, available, 'px', memory)
if tonumber(count) < 1 then return {'done', available, ''} end
return {'done', available, announce_permits(line, available)}
