-- Start the lease anew, for the owner who writes. This script never shortens the TTL of the lock: the owner's read holds may
-- need a longer one.
-- This call may be sent twice.
--
-- KEYS  lock   hash: mode -> write, owner -> read holds, owner:write -> write holds
-- ARGV  owner  whose hold it is
--       lease  number of milliseconds, at least 1
-- ->    renewed
--       not_ours  this owner has no write hold
local field_of = include('redis/field_of')

if redis.call('type', lock).ok ~= 'hash' or field_of(lock, 'mode', 5) ~= 'write' then
  return 'not_ours'
end
if not string.find(field_of(lock, owner .. ':write', 15) or '', '^[1-9]%d*$') then return 'not_ours' end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
return 'renewed'
