-- Let the lease of this owner's read holds start anew. Never shortens it: another hold of the same owner may
-- be longer.
-- Nor the TTL of the lock: others read too.
-- May be sent twice.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds
--       timeout  string: exists while this owner's read holds count
-- ARGV  owner    whose
--       lease    milliseconds, >= 1
-- ->    renewed
--       not_ours  not held by this owner
local lock, timeout = KEYS[1], KEYS[2]
local owner, lease = ARGV[1], ARGV[2]

if redis.call('type', lock).ok ~= 'hash' or redis.call('hexists', lock, 'mode') == 0 then
  return 'not_ours'
end
if not string.find(redis.call('hget', lock, owner) or '', '^[1-9]%d*$') then return 'not_ours' end

local rest = math.max(redis.call('pttl', timeout), tonumber(lease))
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), rest))
-- Second: behind a write that takes no memory it is let through when none is left.
redis.call('set', timeout, 1, 'px', rest)
return 'renewed'
