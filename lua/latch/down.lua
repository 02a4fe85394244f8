-- Count a latch down. At zero it is deleted, which opens it.
-- May be sent twice: the request is remembered, and its repetition is answered, not counted.
--
-- KEYS  latch    string: how often it is still to be counted down
--       request  string: what this request has left of it
-- ARGV  count    how often, >= 1
--       channel  where to announce that it is open
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
-- ->    {done, count, why}  what is left; why: waiters could not be told, because of this ('': they were, or
--                           need not be)
--       {absent}            there is none
--       {foreign, kind}     something else stands there
local latch, request = KEYS[1], KEYS[2]
local count, channel, sharded, memory = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local kind_of = include('kind_of')
local announce = include('announce')

local answered = redis.call('get', request)
if answered then return {'done', tonumber(answered), ''} end
local kind = kind_of(latch)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end

local left = math.max(redis.call('get', latch) - count, 0)
redis.call('del', request)  -- first: behind a write that takes no memory others are let through when none is left
redis.call('set', request, left, 'px', memory)
if left > 0 then
  redis.call('decrby', latch, count)
  return {'done', left, ''}
end
redis.call('del', latch)
return {'done', 0, announce(channel, '0', sharded)}
