-- Start the lease anew, for the owner who writes. This script never shortens the TTL of the lock: the owner's read holds may
-- need a longer one.
-- This call may be sent twice.
--
-- KEYS  lock     hash: mode -> write, owner -> read holds, owner:write -> write holds
--       request  optional, string: as in lock/renew
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    whose hold it is
--       lease    number of milliseconds, at least 1
--       memory   optional, number: as in lock/renew
-- ->    renewed
--       not_ours  this owner has no write hold, or the inner hold has ended
local field_of = include('redis/field_of')
local holds_of = include('hold/holds_of')
local still_held = include('hold/still_held')

if redis.call('type', lock).ok ~= 'hash' or field_of(lock, 'mode', 5) ~= 'write' then return 'not_ours' end
if not holds_of(lock, owner .. ':write') then return 'not_ours' end
if not still_held(request, memory, shares) then return 'not_ours' end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
return 'renewed'
