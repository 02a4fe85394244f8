-- Take all that is available. The TTL of the semaphore stays.
-- May be sent twice: the request is remembered, and its repetition is answered, not done.
--
-- KEYS  pool     string: how many permits are available
--       request  string: the answer to this request
-- ARGV  memory   for how many ms the request is remembered
-- ->    {done, count}    so many were taken
--       {absent}         there is none
--       {foreign, kind}  something else stands there
local pool, request = KEYS[1], KEYS[2]
local memory = ARGV[1]
local kind_of = include('kind_of')

local answered = redis.call('get', request)
if answered then return {'done', tonumber(answered)} end
local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end

local count = redis.call('get', pool)
if tonumber(count) < 0 then count = '0' end
redis.call('set', request, count, 'px', memory)
redis.call('decrby', pool, count)
return {'done', tonumber(count)}
