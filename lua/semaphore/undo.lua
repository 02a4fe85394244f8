-- Undo semaphore/acquire, whatever became of it, and see to it that a late copy takes nothing.
-- May be sent twice.
--
-- KEYS  pool     string: how many permits are available
--       request  string: 1 this request has taken them, 0 it was undone
-- ARGV  count    how many it asked for
--       channel  where to announce it; '': nowhere
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
-- ->    {released, why}  why: waiters could not be told, because of this ('': they were)
--       {not_ours}       there was nothing to undo
local pool, request = KEYS[1], KEYS[2]
local count, channel, sharded, memory = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local kind_of = include('kind_of')
local announce = include('announce')

local answered = redis.call('get', request)
-- First: behind a write that takes no memory others are let through when none is left.
redis.call('del', request)
redis.call('set', request, 0, 'px', memory)
if answered ~= '1' or kind_of(pool) ~= 'number' then return {'not_ours'} end
local available = redis.call('incrby', pool, count)
return {'released', available > 0 and announce(channel, available, sharded) or ''}
