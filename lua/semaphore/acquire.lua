-- Acquire permits of a semaphore, or answer when to ask again. The server does not know who has them, and only a release gives
-- them back.
-- A waiter has a place in the line beside the semaphore.
-- This call may be sent twice: the server remembers the request, and the second copy gets the same answer and acquires nothing.
-- After an undo, a late copy acquires nothing, either.
--
-- KEYS  pool     string: the number of permits that are available
--       request  string: how many permits this request has acquired; 0: it was undone
--       line: order, waiters, facts  the waiters, see line/in_turn
-- ARGV  owner    the owner that asks, and waits
--       count    number of permits, all or none
--       memory   for how many ms the server remembers the request
--       waited   number of ms that this owner has waited; -1: it does not wait
--       channel  permits are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       absent   wait: if there is no semaphore, wait for it; '': answer that it is absent
-- ->    {held, now}      now is the server's time in ms since the epoch
--       {busy, ...}      see line/in_turn. rest is -2: no lease ends
--       {absent}         there is no semaphore
--       {foreign, kind}  the key holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local in_turn = include('line/in_turn')
local leave_line = include('line/leave_line')
local tell_waiters = include('line/tell_waiters')

local time = now()  -- before the first write: a client that may not ask for the time acquires nothing
local answered = redis.call('get', request)
if answered == '0' then return {'busy', -2, -2, 0, 0, ''} end
if answered then return {'held', time} end
local kind = kind_of(pool)
if kind == 'none' and absent ~= 'wait' then return {'absent'} end
if kind ~= 'none' and kind ~= 'number' then return {'foreign', kind} end
local available = tonumber(redis.call('get', pool) or 0)
local blocked = in_turn(line, {owner = owner, needs = count, room = available, rest = -2, time = time})
if blocked then return blocked end

-- These change nothing. A client without the rights to take a permit, and to give it back, fails here.
redis.call('decrby', pool, 0)
redis.call('incrby', pool, 0)
redis.call('set', request, count, 'px', memory)
local left = redis.call('decrby', pool, count)
-- Without a right to it, the place ends like a dead waiter's. If permits are left, the next waiter asks soon, see tell_places.
local done, was_waiting = pcall(leave_line, line, owner, left > 0 and 0 or -2)
if done and was_waiting and left > 0 then tell_waiters(line, left, true) end
return {'held', time}
