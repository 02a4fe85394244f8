-- Start the lease of this owner's read holds anew. This script never shortens it: another hold of the same owner may need a
-- longer one. Nor does it shorten the TTL of the lock: others read, too.
-- This call may be sent twice.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds
--       timeout  string: the read holds of this owner count while it exists
--       request  optional, string: as in lock/renew
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    whose holds they are
--       lease    number of milliseconds, at least 1
--       memory   optional, number: as in lock/renew
-- ->    renewed
--       not_ours  this owner has no read hold, or the inner hold has ended
local holds_of = include('hold/holds_of')
local still_held = include('hold/still_held')

if redis.call('type', lock).ok ~= 'hash' or redis.call('hexists', lock, 'mode') == 0 then return 'not_ours' end
if not holds_of(lock, owner) then return 'not_ours' end
if not still_held(request, memory, shares) then return 'not_ours' end

local rest = math.max(redis.call('pttl', timeout), lease)
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), rest))  -- first: it needs no memory
redis.call('set', timeout, 1, 'px', rest)
return 'renewed'
