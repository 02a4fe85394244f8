-- Take permits of a semaphore. Nobody knows who has them, and nothing gives them back but a release.
-- May be sent twice: the request is remembered, and its repetition is answered, not counted; undone it takes
-- nothing.
--
-- KEYS  pool     string: how many permits are available
--       request  string: 1 this request has taken them, 0 it was undone
-- ARGV  count    how many, all or none
--       memory   for how many ms the request is remembered
-- ->    {held, now}      now is the server's time in ms since the epoch
--       {busy, -2}       nothing tells when to ask again
--       {absent}         there is no semaphore
--       {foreign, kind}  something else stands there
local pool, request = KEYS[1], KEYS[2]
local count, memory = tonumber(ARGV[1]), ARGV[2]
local kind_of = include('kind_of')
local now = include('now')

local answered = redis.call('get', request)
if answered == '1' then return {'held', now()} end
if answered then return {'busy', -2} end
local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end
if tonumber(redis.call('get', pool)) < count then return {'busy', -2} end

local time = now()  -- first: who may not ask for it takes nothing
redis.call('set', request, 1, 'px', memory)
redis.call('decrby', pool, count)
return {'held', time}
