-- Count the permits of a pool that are available. A permit whose lease has ended counts as available, although no client has
-- released it.
-- This script changes nothing.
--
-- KEYS  pool   string: the number of permits that are available
--       taken  zset: id (16 bytes) -> end of its lease, in ms since the epoch
-- ->    {found, available, total}
--       {absent}         there is no pool
--       {foreign, kind}  one of the keys holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')

local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end
local kind_taken = redis.call('type', taken).ok
if kind_taken ~= 'none' and kind_taken ~= 'zset' then return {'foreign', 'permits'} end
local available = redis.call('get', pool) + redis.call('zcount', taken, 0, now())
return {'found', available, available + redis.call('zcount', taken, '(' .. now(), '+inf')}
