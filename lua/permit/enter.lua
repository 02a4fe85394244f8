-- Add an inner hold to the hold of an owner. It uses the permits of the outer hold: only their lease grows, and `inner` has the
-- inner holds.
-- This call may be sent twice.
--
-- KEYS  pool     string: the number of permits that are available
--       taken    zset: id (16 bytes) -> end of its lease, in ms since the epoch, server time
--       slots    zset: see permits/mend_slots
--       inner    optional, zset: the inner holds of this owner, see hold/release_inner
--       request  optional, string: as in lock/enter
-- ARGV  owner    the owner that asks
--       count    number of permits that it must have
--       lease    number of milliseconds, at least 1. This script never shortens a lease
--       total    number: the size that the pool must have; '': any size
--       memory   optional, number: as in lock/enter
-- ->    {held, now, id, ...}  the owner has them. now is the server's time in ms since the epoch
--       {not_ours}            the owner does not have them, or the inner hold has ended before
--       {other_size, size}    the pool has another size
--       {foreign, kind}       one of the keys holds something else
--       TOOMANY, an error     more permits are taken than a script may read
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local taken_permits = include('permits/taken_permits')
local permits_of = include('permits/permits_of')
local mend_slots = include('permits/mend_slots')
local join = include('hold/join')

local kind_taken = taken_permits(taken)
if kind_taken == 'too_many' then return redis.error_reply('TOOMANY') end
local kind = kind_of(pool)
if kind == 'none' then return {'not_ours'} end
if kind ~= 'number' then return {'foreign', kind} end
if kind_taken ~= 'none' and kind_taken ~= 'zset' then return {'foreign', kind_taken} end
local size = redis.call('get', pool) + redis.call('zcard', taken)
if total and size ~= total then return {'other_size', size} end
if kind_taken == 'none' then return {'not_ours'} end
local time = now()
local ours = permits_of(owner, count, taken, slots)
for i = 1, count do
  if not ours[i] or tonumber(redis.call('zscore', taken, ours[i])) <= time then return {'not_ours'} end
end
if request and redis.call('get', request) == 'undone' then return {'not_ours'} end
redis.call('zrem', taken, '')  -- first: it needs no memory, and removes nothing
mend_slots(taken, slots, lease)
for i = 1, count do
  local ends = math.max(tonumber(redis.call('zscore', taken, ours[i])), time + lease)
  redis.call('zadd', taken, ends, ours[i])
end
if request then redis.call('set', request, 1, 'px', memory) end
join(inner, request, time + lease, memory)
local answer = {'held', time}
for i = 1, count do answer[i + 2] = ours[i] end
return answer
