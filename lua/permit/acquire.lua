-- Acquire permits from a pool, each for the time of a lease. If there are too few, the answer says when the next one comes back.
-- This call may be sent twice: an owner keeps the permits that it has, and their lease starts anew. This script never shortens
-- a lease.
--
-- KEYS  pool     string: the number of permits that are available
--       taken    zset: id (16 bytes) -> end of its lease, in ms since the epoch, server time
--       slots    zset: see permits/mend_slots
--       line: order, waiters, facts  the waiters, see line/in_turn
--       inner    optional, zset: the inner holds of this owner, see hold/release_inner. It is needed if `shares` is given
--       request  optional, string: as in lock/acquire
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    the owner that asks
--       count    number of permits, all or none
--       lease    number of milliseconds; 0: the permits have no lease, and stay taken until they are released
--       total    number: the size that the pool must have; if there is no pool, it is made with this size. '': any size, and no
--                pool is made
--       channel  permits are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
--       waited   number of ms that this owner has waited; -1: it does not wait
-- ->    {held, now, id, ...}  now is the server's time in ms since the epoch. Bytes 3 and 4 of an id are its slot
--       {busy, ...}           see line/in_turn. rest: until the first lease ends; -1: none ever ends, -2: no permit is taken
--       {not_ours}            this is a late copy: the permits that it acquired are released
--       {absent}              there is no pool
--       {other_size, size}    the pool has another size
--       {too_small, size}     the pool is smaller than the number of permits that were asked for
--       {foreign, kind}       one of the keys holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local announce = include('redis/announce')
local reclaim = include('permits/reclaim')
local taken_permits = include('permits/taken_permits')
local permits_of = include('permits/permits_of')
local mend_slots = include('permits/mend_slots')
local free_slot = include('permits/free_slot')
local lives_for = include('redis/lives_for')
local permit_id = include('permits/permit_id')
local no_lease = include('permits/no_lease')
local in_pieces = include('redis/in_pieces')
local is_late_copy = include('hold/is_late_copy')
local starts_anew = include('hold/starts_anew')
local add_share = include('shares/add_share')
local in_turn = include('line/in_turn')
local leave_line = include('line/leave_line')
local tell_waiters = include('line/tell_waiters')

-- Gives each permit that we do not have yet a free slot and an id. ours: position -> id of those that we have; the function adds
-- the others. tails: position -> the end of the id. Answers what is to be written into `slots` and into `taken`.
local function name_permits(ours, tails, ends_at)
  local slot, named, leases = -1, {-1, ''}, {}
  for i = 1, count do
    local ends = ours[i] and tonumber(redis.call('zscore', taken, ours[i])) or 0
    if not ours[i] then
      slot = free_slot(slots, slot + 1)
      named[#named + 1], named[#named + 2] = slot, tails[i]
      ours[i] = permit_id(slot, tails[i])
    end
    leases[2 * i - 1], leases[2 * i] = math.max(ends, ends_at), ours[i]
  end
  return named, leases
end

-- Remembers what the request has acquired. missing: how many permits it had to acquire
local function note_request(missing)
  local anew = starts_anew(inner, request, missing < count)
  if request and (anew or missing > 0) then redis.call('set', request, 1, 'px', memory) end
  if not shares then return end
  add_share(shares, request, memory, anew)
  redis.call('zadd', inner, math.min(-count, tonumber(redis.call('zscore', inner, 'most') or 0)), 'most')
  redis.call('pexpire', inner, math.max(redis.call('pttl', inner), redis.call('pttl', shares)))
end

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

-- Tells the waiters if permits have come back, and returns the answer.
local function announced(answer)
  if more and available > 0 then
    announce(channel, available, sharded)
    tell_waiters(line, available)
  end
  return answer
end
if total and size ~= total then return announced({'other_size', size}) end

local slots_live = lease > 0 and lease or 30 * 86400000  -- without the slots a script reads all permits
mend_slots(taken, slots, slots_live)
local ours, tails = permits_of(owner, count, taken, slots)
local missing = 0
for i = 1, count do
  if not ours[i] then missing = missing + 1 end
end

-- A size of 0 may be a semaphore that has no permits left.
if missing > available and size > 0 and count > size then return announced({'too_small', size}) end
local first_end, rest = tonumber(redis.call('zrange', taken, 0, 0, 'withscores')[2]), -2
if first_end then rest = first_end == no_lease and -1 or math.max(first_end - time, 0) end
local blocked = in_turn(line, {
  owner = owner, ours = missing == 0, over = is_late_copy(request, missing == 0), needs = missing, room = available, rest = rest,
  time = time,
})
if blocked then return announced(blocked) end

-- With more permits no script could release any.
if redis.call('zcard', taken) + missing > 10000 then return announced({'foreign', 'too_many'}) end

local named, leases = name_permits(ours, tails, lease > 0 and time + lease or no_lease)
-- First what takes no permit: a client that may not ZREM, ZADD or PEXPIRE fails here.
redis.call('zrem', taken, '')
if missing > 0 then in_pieces('zadd', slots, named) end
lives_for(slots, slots_live)
if missing > 0 then available = redis.call('decrby', pool, missing) end
in_pieces('zadd', taken, leases)
note_request(missing)
if redis.call('pttl', pool) > 0 then redis.call('pexpire', taken, redis.call('pttl', pool)) end

if missing > 0 and leave_line(line, owner, available > 0 and 0 or rest) and available > 0 then
  tell_waiters(line, available, true)
end
local answer = {'held', time}
for i = 1, count do answer[i + 2] = ours[i] end
return announced(answer)
