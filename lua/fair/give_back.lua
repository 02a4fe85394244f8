-- Undo fair/acquire, whatever became of it: the place in the queue, or the lock itself. If nobody has the lock now, the
-- head of the queue is told: we may have been the head, and told in its place.
-- May be sent twice.
--
-- KEYS  lock, queue, deadlines, waiters   as in fair/acquire
-- ARGV  owner     whose
--       channel   where a waiter is woken, without its ":<owner>"
--       sharded   1: as sharded pub/sub too
-- ->    {1, why}  the lock was ours and is free; why: the next could not be told, because of this ('': it was)
--       {-1}      it was not
local lock, queue, deadlines, waiters = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, channel, sharded = ARGV[1], ARGV[2], ARGV[3]
local announce_to_head = include('announce_to_head')

redis.pcall('hdel', waiters, owner)  -- a key of another type is no reason to stay in the others
redis.pcall('zrem', deadlines, owner)
redis.pcall('lrem', queue, 0, owner)

local ours = redis.call('type', lock).ok == 'hash' and redis.call('hget', lock, owner) == '1'
if ours then redis.call('del', lock) end
local why = ''
if redis.call('exists', lock) == 0 then why = announce_to_head(queue, deadlines, waiters, channel, sharded) end
if ours then return {1, why} end
return {-1}
