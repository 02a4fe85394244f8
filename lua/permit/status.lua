-- Count the permits of a pool that are available, and say how long one of its permits stays taken. A permit whose lease has
-- ended counts as available, although no client has released it.
-- This script changes nothing.
--
-- KEYS  pool   string: the number of permits that are available
--       taken  zset: id (16 bytes) -> end of its lease, in ms since the epoch
-- ARGV  id     optional: the permit that is meant
-- ->    {found, available, total, rest}
--                        rest: in how many ms the lease of that permit ends; -1: it has no lease, -2: it is not taken
--       {absent}         there is no pool
--       {foreign, kind}  one of the keys holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local rest_of_permit = include('permits/rest_of_permit')

local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end
local kind_taken = redis.call('type', taken).ok
if kind_taken ~= 'none' and kind_taken ~= 'zset' then return {'foreign', 'permits'} end
local time = now()
local available = redis.call('get', pool) + redis.call('zcount', taken, 0, time)
local total = available + redis.call('zcount', taken, '(' .. time, '+inf')
return {'found', available, total, id and rest_of_permit(taken, id, time) or -2}
