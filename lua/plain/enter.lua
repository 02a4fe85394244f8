-- See whether this token has the lock, for a hold inside its hold. A token cannot be counted: only the lease
-- grows.
-- May be sent twice.
--
-- KEYS  lock   string: the token; its TTL is the lease, which this never shortens
-- ARGV  token  who asks
--       lease  milliseconds that it is needed for; 0: it is only looked
-- ->    {held, now}  it has; now is the server's time in ms since the epoch
--       {not_ours}   it has not
local lock = KEYS[1]
local token, lease = ARGV[1], tonumber(ARGV[2])
local now = include('now')
local is_value = include('is_value')

if redis.call('type', lock).ok ~= 'string' or not is_value(lock, token) then return {'not_ours'} end
if redis.call('pttl', lock) < lease then redis.call('pexpire', lock, lease) end
return {'held', now()}
