-- Delete a latch. Its waiters are told, and see that there is none.
-- May be sent twice: the request is remembered.
--
-- KEYS  latch    string: how often it is still to be counted down
--       request  string: this request was done
-- ARGV  channel  where to announce it
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
-- ->    {done, why}      deleted; why: waiters could not be told, because of this ('': they were)
--       {absent}         there is none
--       {foreign, kind}  something else stands there
local latch, request = KEYS[1], KEYS[2]
local channel, sharded, memory = ARGV[1], ARGV[2], ARGV[3]
local kind_of = include('kind_of')
local announce = include('announce')

if redis.call('exists', request) == 1 then return {'done', ''} end
local kind = kind_of(latch)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end

redis.call('del', latch)
-- Second: behind a write that takes no memory it is let through when none is left.
redis.call('set', request, 'deleted', 'px', memory)
return {'done', announce(channel, '1', sharded)}
