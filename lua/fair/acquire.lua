-- Take the lock when nobody is ahead of us; else take a place in the queue, or keep it, and say that we live.
-- May be sent twice: a first hold is set to 1, not counted, and who has a place keeps it.
--
-- KEYS  lock       hash: owner -> holds; its TTL is the lease, which this never shortens
--       queue      list: owners in the order of their turns
--       deadlines  zset: owner -> forgotten after
--       waiters    hash: those of rlock among them
--       request    optional, string: as in lock/acquire
-- ARGV  owner      who asks
--       lease      milliseconds, >= 1
--       patience   for how many ms we count as alive from now on; 0: we do not queue
--       channel    where a waiter is woken, without its ":<owner>"
--       sharded    1: as sharded pub/sub too
--       memory     for how many ms the request is remembered
-- ->    {held, now}           now is the server's time in ms since the epoch
--       {busy, retry, pttl, position, length[, holder]}
--                             worth asking again after `retry` ms (-1: we will be told); the rest of the
--                             holder's lease (-1: it has no TTL, -2: free, but not for us yet); our place (0:
--                             none) in a queue so long
--       {not_ours}            a late copy: what it took is gone
--       {foreign, kind, key}  something else stands there
-- To a script that includes this one: whether this call changed no count, too.
local lock, queue, deadlines, waiters, request = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, lease, patience, channel, sharded, memory =
  ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local kind_of = include('kind_of')
local now = include('now')
local holder_of = include('holder_of')
local mended_queue = include('mended_queue')
local wake_head = include('wake_head')
local is_over = include('is_over')
local end_with_last_place = include('end_with_last_place')
local tell_new_head = include('tell_new_head')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'lock' then return {'foreign', kind, lock} end
local ours = kind == 'lock' and redis.call('hexists', lock, owner) == 1
if is_over(request, ours) then return {'not_ours'} end
local time = now()
local place, found, key = mended_queue(queue, deadlines, waiters, time, owner)
if not place then return {'foreign', found, key} end

if ours or kind == 'none' and (not place.head or place.head == owner) then
  local longest = math.max(redis.call('pttl', lock), tonumber(lease))
  redis.call('pexpire', lock, longest)  -- first: who may not do this leaves no lock without a TTL
  redis.call('hsetnx', lock, owner, 1)
  redis.call('pexpire', lock, longest)
  redis.call('lrem', queue, 0, owner)
  redis.call('zrem', deadlines, owner)
  redis.call('hdel', waiters, owner)
  if request and not ours then redis.call('set', request, 1, 'px', memory) end
  if place.moved or place.head == owner then tell_new_head(queue, waiters, channel, sharded, longest) end
  return {'held', time}, ours
end

local position, length = place.position, place.length
if patience > 0 then
  -- Or those who wait could not be answered soon.
  if position == 0 and length >= 5000 then return {'foreign', 'crowd', queue} end
  local micros = redis.call('time')
  local since = place.since or micros[1] * 1000000 + micros[2]
  local due = patience + place.theirs_ahead * 300000
  local stays = math.max(due, redis.call('pttl', waiters))
  redis.call('pexpire', waiters, stays)  -- first: who may not do this leaves nothing without a TTL
  redis.call('hset', waiters, owner, string.format('%.0f %.0f', time + patience, since))
  redis.call('pexpire', waiters, stays)
  redis.call('zadd', deadlines, string.format('%.0f', time + due), owner)
  if position == 0 then
    redis.call('rpush', queue, owner)
    length = length + 1
    position = length
  end
  end_with_last_place(queue, deadlines, waiters, time)
end

local pttl = redis.call('pttl', lock)
if kind == 'lock' then
  if place.moved and position ~= 1 then tell_new_head(queue, waiters, channel, sharded, pttl) end
  return {'busy', position == 1 and pttl or -1, pttl, position, length, holder_of(lock)}
end

-- Free for one who was told and has not come: it is told once more, and awaited until its time is over.
wake_head(queue, deadlines, waiters, time, channel, sharded, owner)
local head_ends = redis.call('zscore', deadlines, redis.call('lindex', queue, 0))
return {'busy', math.max(head_ends - time, 20), pttl, position, length}
