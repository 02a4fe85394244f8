-- Add one hold to those of an owner who has the lock.
-- This call may be sent twice: the server remembers the request, and the second copy gets the same answer and adds nothing.
--
-- KEYS  lock     hash: owner -> holds. Its TTL is the lease; this script never shortens it
--       request  string: it exists if this request was done; `undone` if it was undone. The release of the inner hold undoes
--                its request, so no other release counts that hold down
-- ARGV  owner    the owner that asks
--       lease    number of milliseconds, at least 1
--       memory   for how many ms the server remembers the request
-- ->    {held, now}      now is the server's time in ms since the epoch
--       {not_ours}       this owner does not have the lock, or the request was undone
--       {foreign, kind}  the key holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'lock' then return {'foreign', kind} end
if redis.call('hexists', lock, owner) == 0 then return {'not_ours'} end
local answered = redis.call('get', request)
if answered == 'undone' then return {'not_ours'} end

local time = now()  -- before the first write: a client that may not ask for the time acquires nothing
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
if answered then return {'held', time} end
redis.call('hincrby', lock, owner, 0)  -- a client without this right fails before the request says that it holds
redis.call('set', request, 1, 'px', memory)
redis.call('hincrby', lock, owner, 1)
return {'held', time}
