-- Set a latch, unless there is one.
-- May be sent twice: the request is remembered, and its repetition is told that it has set it.
--
-- KEYS  latch    string: how often it is still to be counted down
--       request  string: this request has set it
-- ARGV  total    >= 1
--       expire   ms after which it is forgotten; 0: never
--       channel  where to announce it
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
-- ->    {done, why}      set; why: waiters could not be told, because of this ('': they were)
--       {exists, count}  there is one, unchanged
--       {foreign, kind}  something else stands there
local latch, request = KEYS[1], KEYS[2]
local total, expire, channel, sharded, memory = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local kind_of = include('kind_of')
local announce = include('announce')

if redis.call('exists', request) == 1 then return {'done', ''} end
local kind = kind_of(latch)
if kind == 'number' then return {'exists', redis.call('get', latch)} end
if kind ~= 'none' then return {'foreign', kind} end

redis.call('set', request, 'set', 'px', memory)
redis.call('set', latch, total)
if expire > 0 then redis.call('pexpire', latch, expire) end
return {'done', announce(channel, '1', sharded)}
