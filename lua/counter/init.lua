-- Make a semaphore, or a pool of permits, unless there is one.
-- May be sent twice: the request is remembered, and its repetition is told that it has made it.
--
-- KEYS  pool     string: how many permits are available
--       request  string: the answer to this request
--       taken    of a pool only, zset: id -> end of its lease. Permits of an earlier pool are taken from this one
-- ARGV  total    its size
--       channel  where to announce it
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
-- ->    {1, why}    made; why: waiters could not be told, because of this ('': they were)
--       {0}         there is one, unchanged
--       {-1, kind}  something else stands there
local pool, request, taken = KEYS[1], KEYS[2], KEYS[3]
local total, channel, sharded, memory = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local kind_of = include('kind_of')
local now = include('now')
local announce = include('announce')
local taken_permits = include('taken_permits')

if redis.call('exists', request) == 1 then return {1, ''} end
local kind = kind_of(pool)
if kind == 'number' then return {0} end
if kind ~= 'none' then return {-1, kind} end
local kind_taken = taken and taken_permits(taken) or 'none'
if kind_taken ~= 'none' and kind_taken ~= 'zset' then return {-1, kind_taken} end

if kind_taken == 'zset' then
  redis.call('zremrangebyscore', taken, 0, now())
  total = total - redis.call('zcard', taken)
end
redis.call('set', request, 1, 'px', memory)
redis.call('set', pool, total)
return {1, total > 0 and announce(channel, total, sharded) or ''}
