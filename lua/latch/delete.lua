-- Delete a latch. Its waiters are told, and see that there is none.
-- This call may be sent twice: the server remembers the request.
--
-- KEYS  latch    string: the count that is left
--       request  string: it exists if this request was done
-- ARGV  channel  the end of the latch is announced here
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
-- ->    {done, why}      the latch is deleted. why: the reason why waiters could not be told; '': they were told
--       {absent}         there is no latch
--       {foreign, kind}  the key holds something else
local kind_of = include('redis/kind_of')
local announce = include('redis/announce')

if redis.call('exists', request) == 1 then return {'done', ''} end
local kind = kind_of(latch)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end

redis.call('del', latch)  -- first: it needs no memory
redis.call('set', request, 'deleted', 'px', memory)
return {'done', announce(channel, '1', sharded)}
