-- Let the lease start anew, for its token only.
-- May be sent twice.
--
-- KEYS  lock   string: the token
-- ARGV  token  whose
--       lease  milliseconds, >= 1
--       inner  1: this is a hold inside another one of the same token, whose lease it never shortens
-- ->    1      done
--       0      it is not this token's
local lock = KEYS[1]
local token, lease, inner = ARGV[1], ARGV[2], ARGV[3]

if redis.call('type', lock).ok ~= 'string' or redis.call('get', lock) ~= token then return 0 end
if inner == '1' and redis.call('pttl', lock) > tonumber(lease) then return 1 end
redis.call('pexpire', lock, lease)
return 1
