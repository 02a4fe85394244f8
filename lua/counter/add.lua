-- Change how many permits are available, and wake who waits when there are more. Never makes a semaphore or a
-- pool.
-- This is how a semaphore's permits are given back, and how either of them is made larger or smaller.
-- May be sent twice: the request is remembered, and its repetition is answered, not counted.
--
-- KEYS  pool     string: how many permits are available
--       request  string: the answer to this request
--       line, waiters, facts
--                who waits for permits: see in_turn
-- ARGV  count    how many more; negative: fewer
--       channel  where to announce it; '': nowhere
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
-- ->    {done, available, why}  why: waiters could not be told, because of this ('': they were, or need not
--                               be)
--       {absent}                there is none
--       {foreign, kind}         something else stands there
local pool, request = KEYS[1], KEYS[2]
local count, channel, sharded, memory = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local kind_of = include('kind_of')
local announce_permits = include('announce_permits')
local queue_at = include('queue_at')

local answered = redis.call('get', request)
if answered then return {'done', tonumber(answered), ''} end
local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end

redis.call('del', request)  -- first: behind a write that takes no memory others are let through when none is left
local available = redis.call('incrby', pool, count)
redis.call('set', request, available, 'px', memory)
if tonumber(count) < 1 then return {'done', available, ''} end
return {'done', available, announce_permits(queue_at(KEYS, 3, channel, sharded), available)}
