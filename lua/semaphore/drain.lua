-- Acquire all permits that are available. The semaphore keeps its TTL.
-- This call may be sent twice: the server remembers the request, and the second copy gets the same answer and acquires nothing.
-- semaphore/undo undoes it.
--
-- KEYS  pool     string: the number of permits that are available
--       request  string: how many permits this request has acquired; 0: none, or it was undone
-- ARGV  memory   for how many ms the server remembers the request
-- ->    {done, count}    this many permits were acquired
--       {absent}         there is no semaphore
--       {foreign, kind}  the key holds something else
local kind_of = include('redis/kind_of')

local answered = redis.call('get', request)
if answered then return {'done', tonumber(answered)} end
local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end

local count = redis.call('get', pool)
if tonumber(count) < 0 then count = '0' end
redis.call('decrby', pool, 0)  -- a client without this right fails before the request has an answer
redis.call('set', request, count, 'px', memory)
redis.call('decrby', pool, count)
return {'done', tonumber(count)}
