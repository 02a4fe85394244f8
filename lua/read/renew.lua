-- Start the lease of this owner's read holds anew. This script never shortens it: another hold of the same owner may need a
-- longer one.
-- Nor does it shorten the TTL of the lock: others read, too.
-- This call may be sent twice.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds
--       timeout  string: the read holds of this owner count while it exists
-- ARGV  owner    whose holds they are
--       lease    number of milliseconds, at least 1
-- ->    renewed
--       not_ours  this owner has no read hold
if redis.call('type', lock).ok ~= 'hash' or redis.call('hexists', lock, 'mode') == 0 then
  return 'not_ours'
end
if not string.find(redis.call('hget', lock, owner) or '', '^[1-9]%d*$') then return 'not_ours' end

local rest = math.max(redis.call('pttl', timeout), lease)
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), rest))
-- Second: behind a write that needs no memory Redis allows it, even if it has none left.
redis.call('set', timeout, 1, 'px', rest)
return 'renewed'
