-- Undo semaphore/acquire, whatever became of it, give up the place in the line, and see to it that a late copy takes
-- nothing.
-- May be sent twice.
--
-- KEYS  pool     string: how many permits are available
--       request  string: 1 this request has taken them, 0 it was undone
--       line, waiters, facts
--                who waits for permits: see in_turn
-- ARGV  owner    who has asked
--       count    how many it asked for
--       channel  where to announce it
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
-- ->    {released, why}  why: waiters could not be told, because of this ('': they were)
--       {not_ours}       there was nothing to undo
local pool, request = KEYS[1], KEYS[2]
local owner, count, channel, sharded, memory = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local kind_of = include('kind_of')
local announce_permits = include('announce_permits')
local leave_line = include('leave_line')
local tell_waiters = include('tell_waiters')
local tell_each = include('tell_each')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 3, channel, sharded)

local answered = redis.call('get', request)
-- First: behind a write that takes no memory others are let through when none is left.
redis.call('del', request)
redis.call('set', request, 0, 'px', memory)
local is_pool = kind_of(pool) == 'number'
if answered == '1' and is_pool then
  return {'released', announce_permits(queue, redis.call('incrby', pool, count))}
end
local done, left = pcall(leave_line, queue, owner, -2)
if not done or not left then return {'not_ours'} end
if is_pool then
  tell_waiters(queue, tonumber(redis.call('get', pool)))
else  -- it is gone: the next sees that, too
  tell_each(queue, redis.call('zrange', queue.line, 0, 0))
end
return {'not_ours'}
