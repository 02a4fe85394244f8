-- Ask whether this token has the lock, for a hold inside its hold. A token lock has no count: only the lease grows.
-- This call may be sent twice.
--
-- KEYS  lock   string: the token. Its TTL is the lease; this script never shortens it
-- ARGV  owner  the token of the client that asks
--       lease  number of milliseconds for which the inner hold needs the lock; 0: it is over, the call only asks
-- ->    {held, now}  the token has the lock. now is the server's time in ms since the epoch
--       {not_ours}   the token does not have the lock
local now = include('redis/now')
local is_value = include('redis/is_value')

if redis.call('type', lock).ok ~= 'string' or not is_value(lock, owner) then return {'not_ours'} end
if redis.call('pttl', lock) < lease then redis.call('pexpire', lock, lease) end
return {'held', now()}
