-- Make a semaphore, or a pool of permits, unless there is one.
-- May be sent twice: the request is remembered, and its repetition is told that it has made it.
--
-- KEYS  pool     string: how many permits are available
--       request  string: the answer to this request
--       line, waiters, facts
--                who waits for permits: see in_turn
--       taken    of a pool only, zset: id -> end of its lease. Permits of an earlier pool are taken from this
--                one
-- ARGV  total    its size
--       channel  where to announce it
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
--       expire   ms after which it is forgotten; 0: never
-- ->    {done, why}      made; why: waiters could not be told, because of this ('': they were)
--       {exists}         there is one, unchanged
--       {foreign, kind}  something else stands there
local pool, request, taken = KEYS[1], KEYS[2], KEYS[6]
local total, channel, sharded, memory, expire = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local kind_of = include('kind_of')
local now = include('now')
local announce_permits = include('announce_permits')
local queue_at = include('queue_at')
local taken_permits = include('taken_permits')

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
return {'done', announce_permits(queue_at(KEYS, 3, channel, sharded), total)}
