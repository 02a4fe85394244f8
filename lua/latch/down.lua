-- Count a latch down. At zero the script deletes it, which opens it.
-- This call may be sent twice: the server remembers the request, and the second copy gets the same answer and counts nothing.
--
-- KEYS  latch    string: the count that is left
--       request  string: the count that was left after this request
-- ARGV  count    number to count down, at least 1
--       channel  the opening of the latch is announced here
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
-- ->    {done, count, why}  count is what is left. why: the reason why waiters could not be told; '': they were told, or the
--                           latch is still closed
--       {absent}            there is no latch
--       {foreign, kind}     the key holds something else
local kind_of = include('redis/kind_of')
local announce = include('redis/announce')

local answered = redis.call('get', request)
if answered then return {'done', tonumber(answered:match('^%d+')), ''} end
local kind = kind_of(latch)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end

local left = math.max(redis.call('get', latch) - count, 0)
redis.call('del', request)  -- first: it needs no memory
redis.call('decrby', latch, 0)  -- a client without this right fails before the request has an answer
redis.call('set', request, left, 'px', memory)
if left > 0 then
  redis.call('decrby', latch, count)
  return {'done', left, ''}
end
redis.call('del', latch)
return {'done', 0, announce(channel, '0', sharded)}
