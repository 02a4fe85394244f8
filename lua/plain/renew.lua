-- Let the lease start anew, for its token only. Never shortens it: another hold of the same token may be
-- longer.
-- May be sent twice.
--
-- KEYS  lock   string: the token
-- ARGV  token  whose
--       lease  milliseconds, >= 1
-- ->    renewed
--       not_ours  it is not this token's
local lock = KEYS[1]
local token, lease = ARGV[1], tonumber(ARGV[2])
local is_value = include('is_value')

if redis.call('type', lock).ok ~= 'string' or not is_value(lock, token) then return 'not_ours' end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
return 'renewed'
