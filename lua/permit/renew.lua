-- Start the leases of an owner's permits anew. This script never shortens a lease: a hold inside this one may need a longer
-- one. It renews no permit whose lease has ended: another owner may have it.
-- This call may be sent twice.
--
-- KEYS  pool     string: the number of permits that are available
--       taken    zset: id (16 bytes) -> end of its lease, in ms since the epoch, server time
--       slots    zset: see permits/mend_slots
--       inner    optional, zset: the inner holds of this owner, see hold/release_inner
--       request  optional, string: as in lock/renew
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    whose permits they are
--       count    number of permits that it has
--       lease    number of milliseconds, at least 1
--       memory   optional, number: as in lock/renew
-- ->    renewed
--       not_ours           the owner does not have all of them, or the inner hold has ended
--       TOOMANY, an error  more permits are taken than a script may read
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local taken_permits = include('permits/taken_permits')
local permits_of = include('permits/permits_of')
local mend_slots = include('permits/mend_slots')
local in_pieces = include('redis/in_pieces')
local still_held = include('hold/still_held')
local join = include('hold/join')

local kind_taken = taken_permits(taken)
if kind_taken == 'too_many' then return redis.error_reply('TOOMANY') end
if kind_of(pool) ~= 'number' or kind_taken ~= 'zset' then return 'not_ours' end
local time = now()
local ours = permits_of(owner, count, taken, slots)
local ends = time + lease
for i = 1, count do
  local before = ours[i] and tonumber(redis.call('zscore', taken, ours[i]))
  if not before or before <= time then return 'not_ours' end
  ends = math.max(ends, before)
end
if not still_held(request, memory, shares) then return 'not_ours' end
redis.call('zrem', taken, '')  -- first: it needs no memory, and removes nothing
mend_slots(taken, slots, lease)
local leases = {}
for i = 1, count do leases[2 * i - 1], leases[2 * i] = ends, ours[i] end
in_pieces('zadd', taken, leases)
join(not shares and inner, request, time + lease, memory)
return 'renewed'
