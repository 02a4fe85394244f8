-- Start the lease anew, for its owner only. This script never shortens the lease: another hold of the same owner may need a
-- longer one.
-- This call may be sent twice.
--
-- KEYS  lock   hash: owner -> holds
-- ARGV  owner  whose hold it is
--       lease  number of milliseconds, at least 1
-- ->    renewed
--       not_ours  this owner does not hold the lock
if redis.call('type', lock).ok ~= 'hash' then return 'not_ours' end
if not string.find(redis.call('hget', lock, owner) or '', '^[1-9]%d*$') then return 'not_ours' end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
return 'renewed'
