-- Let the lease start anew, for the owner who writes. Never shortens the TTL of the lock: its read holds may
-- be longer.
-- May be sent twice.
--
-- KEYS  lock   hash: mode -> write, owner -> read holds, owner:write -> write holds
-- ARGV  owner  whose
--       lease  milliseconds, >= 1
-- ->    renewed
--       not_ours  not held by this owner
local lock = KEYS[1]
local owner, lease = ARGV[1], ARGV[2]
local field_of = include('field_of')

if redis.call('type', lock).ok ~= 'hash' or field_of(lock, 'mode', 5) ~= 'write' then
  return 'not_ours'
end
if not string.find(field_of(lock, owner .. ':write', 15) or '', '^[1-9]%d*$') then return 'not_ours' end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), tonumber(lease)))
return 'renewed'
