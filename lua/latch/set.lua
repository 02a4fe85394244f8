-- Set a latch, unless there is one.
-- This call may be sent twice: the server remembers the request, and the second copy changes nothing and answers `done`.
--
-- KEYS  latch    string: the count that is left
--       request  string: it exists if this request has set the latch
-- ARGV  total    the count, at least 1
--       expire   number of ms after which the latch expires; 0: never
--       channel  the new latch is announced here
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
-- ->    {done, why}      the latch is set. why: the reason why waiters could not be told; '': they were told
--       {exists, count}  there is a latch already, and it stays as it is
--       {foreign, kind}  the key holds something else
local kind_of = include('redis/kind_of')
local announce = include('redis/announce')

if redis.call('exists', request) == 1 then return {'done', ''} end
local kind = kind_of(latch)
if kind == 'number' then return {'exists', redis.call('get', latch)} end
if kind ~= 'none' then return {'foreign', kind} end

redis.call('set', request, 'set', 'px', memory)
if expire > 0 then
  redis.call('set', latch, total, 'px', expire)
else
  redis.call('set', latch, total)
end
return {'done', announce(channel, '1', sharded)}
