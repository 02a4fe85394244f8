-- Start the lease anew, for its token only. This script never shortens the lease: another hold of the same token may need a
-- longer one.
-- This call may be sent twice.
--
-- KEYS  lock   string: the token
-- ARGV  owner  the token of the holder
--       lease  number of milliseconds, at least 1
-- ->    renewed
--       not_ours  this token does not hold the lock
local is_value = include('redis/is_value')

if redis.call('type', lock).ok ~= 'string' or not is_value(lock, owner) then return 'not_ours' end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
return 'renewed'
