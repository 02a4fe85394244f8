-- Let the lease start anew, for its owner only. Never shortens it: another hold of the same owner may be
-- longer.
-- May be sent twice.
--
-- KEYS  lock   hash: owner -> holds
-- ARGV  owner  whose
--       lease  milliseconds, >= 1
-- ->    renewed
--       not_ours  it is not this owner's
local lock = KEYS[1]
local owner, lease = ARGV[1], ARGV[2]

if redis.call('type', lock).ok ~= 'hash' then return 'not_ours' end
if not string.find(redis.call('hget', lock, owner) or '', '^[1-9]%d*$') then return 'not_ours' end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), tonumber(lease)))
return 'renewed'
