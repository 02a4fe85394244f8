-- See how many permits of a pool are available. Those whose lease has ended count as available, though nobody
-- has given them back yet. Changes nothing.
--
-- KEYS  pool   string: how many permits are available
--       taken  zset: id (16 bytes) -> end of its lease (ms since the epoch)
-- ->    {found, available, total}
--       {absent}         there is no pool
--       {foreign, kind}  something else stands there
local pool, taken = KEYS[1], KEYS[2]
local kind_of = include('kind_of')
local now = include('now')

local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end
local kind_taken = redis.call('type', taken).ok
if kind_taken ~= 'none' and kind_taken ~= 'zset' then return {'foreign', 'permits'} end
local available = redis.call('get', pool) + redis.call('zcount', taken, 0, now())
return {'found', available, available + redis.call('zcount', taken, '(' .. now(), '+inf')}
