-- Let the leases of an owner's permits start anew. None is shortened: a hold inside this one may be longer.
-- What has ended cannot be renewed: it may be another's.
-- May be sent twice.
--
-- KEYS  pool   string: how many permits are available
--       taken  zset: id (16 bytes) -> end of its lease (ms since the epoch, server time)
--       slots  zset: see mend_slots
-- ARGV  owner  whose
--       count  how many it has
--       lease  milliseconds, >= 1
-- ->    renewed
--       not_ours         it does not have all of them (any more)
--       CROWD, an error  more are taken than can be looked at
local pool, taken, slots = KEYS[1], KEYS[2], KEYS[3]
local owner, count, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local kind_of = include('kind_of')
local now = include('now')
local taken_permits = include('taken_permits')
local permits_of = include('permits_of')
local mend_slots = include('mend_slots')
local in_pieces = include('in_pieces')

local kind_taken = taken_permits(taken)
if kind_taken == 'crowd' then return redis.error_reply('CROWD') end
if kind_of(pool) ~= 'number' or kind_taken ~= 'zset' then return 'not_ours' end
local time = now()
local ours = permits_of(owner, count, taken, slots)
local ends = time + lease
for i = 1, count do
  local before = ours[i] and tonumber(redis.call('zscore', taken, ours[i]))
  if not before or before <= time then return 'not_ours' end
  ends = math.max(ends, before)
end
-- Removes nothing; but behind a write that takes no memory others are let through when none is left.
redis.call('zrem', taken, '')
mend_slots(taken, slots, lease)
local leases = {}
for i = 1, count do leases[2 * i - 1], leases[2 * i] = ends, ours[i] end
in_pieces('zadd', taken, leases)
return 'renewed'
