-- Make a semaphore or a pool of permits, unless there is one; or give a pool another size. Taken permits stay taken. So in a pool
-- that became smaller, the number of available permits may be negative until enough permits come back.
-- This call may be sent twice: the server remembers the request, and the second copy changes nothing and answers `done`.
--
-- KEYS  pool     string: the number of permits that are available
--       request  string: the answer to this request
--       line: order, waiters, facts  the waiters, see line/in_turn
--       taken    optional, only of a pool, zset: id -> end of its lease. The permits of an earlier pool count as taken from
--                this one
--       slots    optional, only of a pool, zset: see permits/mend_slots
-- ARGV  total    number of permits
--       channel  permits are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
--       expire   number of ms after which the semaphore or pool expires; 0: never
--       resize   optional: 1 to give a pool that exists this size
-- ->    {done, why}      it is made, or has this size. why: the reason why waiters could not be told; '': they were told, or
--                        no more permits are available than before
--       {exists}         there is one already, and it stays as it is
--       {foreign, kind}  one of the keys holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local announce_permits = include('permits/announce_permits')
local reclaim = include('permits/reclaim')
local taken_permits = include('permits/taken_permits')

if redis.call('exists', request) == 1 then return {'done', ''} end
local kind = kind_of(pool)
local there = kind == 'number'
if there and resize ~= '1' then return {'exists'} end
if not there and kind ~= 'none' then return {'foreign', kind} end
local kind_taken = taken and taken_permits(taken) or 'none'
if kind_taken ~= 'none' and kind_taken ~= 'zset' then return {'foreign', kind_taken} end

if there then redis.call('del', request) end  -- first: it needs no memory, and removes nothing
local before = there and tonumber(redis.call('get', pool)) or 0
local function free_now() return total - (kind_taken == 'zset' and redis.call('zcard', taken) or 0) end
-- A new pool is made before ended permits come back, so its size is right wherever a missing right stops this script.
if not there then
  if expire > 0 then
    redis.call('set', pool, free_now(), 'px', expire)
  else
    redis.call('set', pool, free_now())
  end
end
if kind_taken == 'zset' then reclaim(pool, taken, slots, now()) end
local available = free_now()
redis.call('set', request, 1, 'px', memory)
if there then redis.call('incrby', pool, available - redis.call('get', pool)) end  -- its TTL stays
if available <= before then return {'done', ''} end
return {'done', announce_permits(line, available)}
