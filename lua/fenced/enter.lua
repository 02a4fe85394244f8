-- Add one hold to those of an owner who has the lock, with a token of its own.
-- This call may be sent twice: the server remembers the request with its token, and the second copy gets the same answer and
-- adds nothing. But if another hold has drawn a larger token in between, the copy draws a new one. The client learns its token
-- only now, and must not begin with one that is older than those in use.
--
-- KEYS  lock     hash: owner -> holds. Its TTL is the lease; this script never shortens it
--       token    string: the last token
--       request  string: the token of this request; `undone` if it was undone
-- ARGV  those of lock/enter
-- ->    {held, now, token}  now is the server's time in ms since the epoch
--       {not_ours}          this owner does not have the lock, or the request was undone
--       {foreign, kind}     one of the keys holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'lock' then return {'foreign', kind} end
if redis.call('hexists', lock, owner) == 0 then return {'not_ours'} end
local answered = redis.call('get', request)
if answered == 'undone' then return {'not_ours'} end
local counter = kind_of(token)
if counter ~= 'none' and counter ~= 'number' then return {'foreign', 'token'} end

local time = now()  -- before the first write: a client that may not ask for the time acquires nothing
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
local last = tonumber(redis.call('get', token) or 0)
if answered and last <= tonumber(answered) then return {'held', time, tonumber(answered)} end
redis.call('hincrby', lock, owner, 0)  -- as in lock/enter
local drawn = redis.call('incr', token)
redis.call('set', request, drawn, 'px', memory)
if not answered then redis.call('hincrby', lock, owner, 1) end
return {'held', time, drawn}
