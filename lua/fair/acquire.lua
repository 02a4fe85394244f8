-- Acquire the lock if no waiter is ahead of us. Else take a place in the queue, or keep it and say that we are alive.
-- This call may be sent twice: the second copy changes no count, and a waiter keeps its place.
--
-- KEYS  lock      hash: owner -> holds. Its TTL is the lease; this script never shortens it
--       queue: order, deadlines, alive  the waiters, see fair_queue/mended_queue
--       request   optional, string: as in lock/acquire
--       shares    optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner     the owner that asks
--       lease     number of milliseconds, at least 1
--       alive_for  number of ms for which we count as alive from now on; 0: we take no place
--       channel   each waiter listens on <channel>:<owner>
--       sharded   1 to publish by sharded pub/sub, too
--       memory    for how many ms the server remembers the request
--       theirs    number of ms that each of Redisson's waiters adds to the deadlines behind it, see fair_queue/mended_queue
-- ->    {held, now}           now is the server's time in ms since the epoch
--       {busy, retry, rest, position, length[, holder]}
--                             retry: ask again after this many ms; -1: a message will come. rest: of the holder's
--                             lease; -1: it has no TTL, -2: the lock is free, but it is not our turn. position: our place in
--                             the queue, 0: we have none. length: of the queue
--       {not_ours}            this is a late copy: the hold that it acquired has ended
--       {foreign, kind, key}  this key holds something else
-- A script that calls this one gets one more value with {held, ...}: `had`, see hold/all_or_none.
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local now_micros = include('redis/now_micros')
local write_with_ttl = include('redis/write_with_ttl')
local holder_of = include('hold/holder_of')
local mended_queue = include('fair_queue/mended_queue')
local wake_head = include('fair_queue/wake_head')
local is_late_copy = include('hold/is_late_copy')
local count_hold = include('hold/count_hold')
local end_with_last_place = include('fair_queue/end_with_last_place')
local tell_new_head = include('fair_queue/tell_new_head')
local most_waiters = 5000  -- rlock-capacity(7) names this number

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'lock' then return {'foreign', kind, lock} end
local ours = kind == 'lock' and redis.call('hexists', lock, owner) == 1
if is_late_copy(request, ours) then return {'not_ours'} end
local time = now()
queue.theirs = theirs
local place, found, key = mended_queue(queue, time, owner)
if not place then return {'foreign', found, key} end

if ours or kind == 'none' and (not place.head or place.head == owner) then
  local longest = math.max(redis.call('pttl', lock), lease)
  write_with_ttl('hsetnx', lock, longest, owner, 1)
  redis.call('lrem', queue.order, 0, owner)
  redis.call('zrem', queue.deadlines, owner)
  redis.call('hdel', queue.alive, owner)
  local hold = {lock = lock, owner = owner, request = request, shares = shares, memory = memory}
  local adds = count_hold(hold, ours)
  if place.moved or place.head == owner then tell_new_head(queue, longest) end
  return {'held', time}, not adds
end

local position, length = place.position, place.length
if alive_for > 0 then
  -- A call that mends the queue reads all of it: a longer one would keep the server busy.
  if position == 0 and length >= most_waiters then return {'foreign', 'too_many', queue.order} end
  local since = place.since or now_micros()
  local due = alive_for + place.theirs_ahead * theirs
  local stays = math.max(due, redis.call('pttl', queue.alive))
  write_with_ttl('hset', queue.alive, stays, owner, string.format('%.0f %.0f', time + alive_for, since))
  redis.call('zadd', queue.deadlines, string.format('%.0f', time + due), owner)
  if position == 0 then
    redis.call('rpush', queue.order, owner)
    length = length + 1
    position = length
  end
  end_with_last_place(queue, time)
end

local function rest_of_head()
  return redis.call('zscore', queue.deadlines, redis.call('lindex', queue.order, 0)) - time
end

local rest = redis.call('pttl', lock)
if kind == 'lock' then
  if place.moved and position ~= 1 then tell_new_head(queue, rest) end
  local retry = position == 1 and rest or -1
  -- If a waiter of Redisson is dead, nobody tells those behind it when its time is over. The first of rlock's waiters behind it
  -- looks then, and the next one, in case the first is dead, too.
  if place.theirs_ahead > 0 and position > 1 and position <= place.theirs_ahead + 2 then retry = rest_of_head() end
  return {'busy', retry, rest, position, length, holder_of(lock)}
end

-- The lock is free for a waiter that was told and has not come: tell it once more, and wait until its time is over.
wake_head(queue, time, owner)
return {'busy', math.max(rest_of_head(), 20), rest, position, length}
