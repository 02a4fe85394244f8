-- Take permits of a semaphore, or say when to ask again. Nobody knows who has them, and nothing gives them back but a
-- release. Who waits has a place in the line beside the semaphore.
-- May be sent twice: the request is remembered, and its repetition is answered, not counted; undone it takes
-- nothing.
--
-- KEYS  pool     string: how many permits are available
--       request  string: 1 this request has taken them, 0 it was undone
--       line, waiters, facts
--                who waits for permits: see in_turn
-- ARGV  owner    who asks, and waits
--       count    how many, all or none
--       memory   for how many ms the request is remembered
--       waited   for how many ms this owner has waited; -1: it does not wait
--       channel  where waiters are told, without their ":<owner>"
--       sharded  1: by sharded pub/sub too
--       absent   wait: where there is no semaphore, it is waited for
-- ->    {held, now}      now is the server's time in ms since the epoch
--       {busy, ...}      see in_turn; the rest is -2: no lease ends
--       {absent}         there is no semaphore
--       {foreign, kind}  something else stands there
local pool, request = KEYS[1], KEYS[2]
local owner, count, memory, absent = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[7]
local kind_of = include('kind_of')
local now = include('now')
local in_turn = include('in_turn')
local leave_line = include('leave_line')
local tell_waiters = include('tell_waiters')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 3, ARGV[5], ARGV[6], ARGV[4])

local time = now()  -- first: who may not ask for it takes nothing
local answered = redis.call('get', request)
if answered == '1' then return {'held', time} end
if answered then return {'busy', -2, -2, 0, 0, ''} end
local kind = kind_of(pool)
if kind == 'none' and absent ~= 'wait' then return {'absent'} end
if kind ~= 'none' and kind ~= 'number' then return {'foreign', kind} end
local available = tonumber(redis.call('get', pool) or 0)
local blocked = in_turn(queue, owner, false, false, count, available, -2, nil, time)
if blocked then return blocked end

redis.call('set', request, 1, 'px', memory)
local left = redis.call('decrby', pool, count)
if leave_line(queue, owner, -2) and left > 0 then tell_waiters(queue, left, true) end
return {'held', time}
