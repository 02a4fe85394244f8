-- Take permits from a pool, each for the time of a lease; or say when the next one comes back at the latest.
-- May be sent twice: who has them keeps them, and the lease starts anew; it is never shortened.
--
-- KEYS  pool     string: how many permits are available
--       taken    zset: id (16 bytes) -> end of its lease (ms since the epoch, server time)
--       slots    zset: see mend_slots
--       line, waiters, facts
--                who waits for it: see in_turn
--       request  optional, string: as in lock/acquire
-- ARGV  owner    who asks
--       count    how many, all or none
--       lease    milliseconds, >= 1
--       total    the size that the pool must have, and is made with where there is none; '': any, and none is
--                made
--       channel  where to announce what came back from others by the way; '': nowhere
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
--       waited   for how many ms this owner has waited; -1: it does not wait
-- ->    {held, now, id, ...}  now is the server's time in ms since the epoch; bytes 3 and 4 of an id are its
--                             slot
--       {busy, ...}           see in_turn; rest: until the first lease ends (-1: none ever does, -2: none is
--                             taken)
--       {not_ours}            a late copy: what it took is gone
--       {absent}              there is no pool
--       {other_size, size}    the pool has another size
--       {too_small, size}     the pool is smaller than what is asked for
--       {foreign, kind}       something else stands there
local pool, taken, slots, request = KEYS[1], KEYS[2], KEYS[3], KEYS[7]
local owner, count, lease, total, channel, sharded, memory =
  ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7]
local kind_of = include('kind_of')
local now = include('now')
local announce = include('announce')
local reclaim = include('reclaim')
local taken_permits = include('taken_permits')
local permits_of = include('permits_of')
local mend_slots = include('mend_slots')
local free_slot = include('free_slot')
local lives_for = include('lives_for')
local permit_id = include('permit_id')
local in_pieces = include('in_pieces')
local is_over = include('is_over')
local in_turn = include('in_turn')
local leave_line = include('leave_line')
local tell_waiters = include('tell_waiters')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 4, channel, sharded, ARGV[8])

local kind = kind_of(pool)
if kind ~= 'none' and kind ~= 'number' then return {'foreign', kind} end
local kind_taken = taken_permits(taken)
if kind_taken ~= 'none' and kind_taken ~= 'zset' then return {'foreign', kind_taken} end
if kind == 'none' and not total then return {'absent'} end
local time = now()
local more = kind == 'none'
if more then redis.call('set', pool, total - redis.call('zcard', taken)) end
if reclaim(pool, taken, slots, time) > 0 then more = true end
local available = tonumber(redis.call('get', pool))
local size = available + redis.call('zcard', taken)
if total and size ~= total then return {'other_size', size} end

mend_slots(taken, slots, lease)
local ours, tails = permits_of(owner, count, taken, slots)
local missing = 0
for i = 1, count do
  if not ours[i] then missing = missing + 1 end
end
-- Tells others of permits that came back by the way.
local function announce_more()
  if not more or available <= 0 then return end
  announce(channel, available, sharded)
  tell_waiters(queue, available)
end

-- 0: a semaphore, perhaps, of which nothing is left.
if missing > available and size > 0 and count > size then
  announce_more()
  return {'too_small', size}
end
local first = redis.call('zrange', taken, 0, 0, 'withscores')[2]
local rest = not first and -2 or first == '922337203685477' and -1 or math.max(first - time, 0)
local over = is_over(request, missing == 0)
local blocked = in_turn(queue, owner, missing == 0, over, missing, available, rest, nil, time)
if blocked then
  announce_more()
  return blocked
end

-- Or nobody could give back any more.
if redis.call('zcard', taken) + missing > 10000 then return {'foreign', 'crowd'} end

local slot, leases, named = -1, {}, {-1, ''}
for i = 1, count do
  local ends = ours[i] and tonumber(redis.call('zscore', taken, ours[i])) or 0
  if not ours[i] then
    slot = free_slot(slots, slot + 1)
    named[#named + 1], named[#named + 2] = slot, tails[i]
    ours[i] = permit_id(slot, tails[i])
  end
  leases[2 * i - 1], leases[2 * i] = math.max(ends, time + lease), ours[i]
end
if missing > 0 then available = redis.call('decrby', pool, missing) end
in_pieces('zadd', taken, leases)
if missing > 0 then in_pieces('zadd', slots, named) end
lives_for(slots, lease)
if request and missing > 0 then redis.call('set', request, 1, 'px', memory) end
if redis.call('pttl', pool) > 0 then redis.call('pexpire', taken, redis.call('pttl', pool)) end

if missing > 0 and leave_line(queue, owner, rest) and available > 0 then
  tell_waiters(queue, available, true)
end
announce_more()
local answer = {'held', time}
for i = 1, count do answer[i + 2] = ours[i] end
return answer
