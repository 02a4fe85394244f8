-- Let the lease start anew, for its owner only. Never shortens it below what another hold of the same owner asked for.
-- May be sent twice.
--
-- KEYS  lock   hash: owner -> holds
-- ARGV  owner  whose
--       lease  milliseconds, >= 1
-- ->    1      done
--       0      it is not this owner's
local lock = KEYS[1]
local owner, lease = ARGV[1], ARGV[2]

if redis.call('type', lock).ok ~= 'hash' then return 0 end
local holds = tonumber(string.match(redis.call('hget', lock, owner) or '', '^[1-9]%d*$'))
if not holds then return 0 end
if holds > 1 and redis.call('pttl', lock) > tonumber(lease) then return 1 end
redis.call('pexpire', lock, lease)
return 1
