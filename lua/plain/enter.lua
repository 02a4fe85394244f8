-- Add an inner hold to the hold of an owner. A token lock has no count: only the lease grows, and `inner` has the inner holds.
-- This call may be sent twice.
--
-- KEYS  lock     string: the token. Its TTL is the lease; this script never shortens it
--       inner    optional, zset: the inner holds of this owner, see hold/release_inner
--       request  optional, string: as in lock/enter
-- ARGV  owner    the token of the client that asks
--       lease    number of milliseconds, at least 1
--       memory   optional, number: as in lock/enter
-- ->    {held, now}  the token has the lock. now is the server's time in ms since the epoch
--       {not_ours}   the token does not have the lock, or the inner hold has ended before
--       {foreign, kind}  the key holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local is_value = include('redis/is_value')
local join = include('hold/join')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'string' and kind ~= 'number' then return {'foreign', kind} end
if kind == 'none' or not is_value(lock, owner) then return {'not_ours'} end
if request and redis.call('get', request) == 'undone' then return {'not_ours'} end
local time = now()
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
if request then redis.call('set', request, 1, 'px', memory) end
join(inner, request, time + lease, memory)
return {'held', time}
