-- Start the lease anew, for its owner only. This script never shortens the lease: another hold of the same owner may need a
-- longer one.
-- This call may be sent twice.
--
-- KEYS  lock     hash: owner -> holds
--       request  optional, string: of an inner hold, the request that acquired it; see lock/enter
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    whose hold it is
--       lease    number of milliseconds, at least 1
--       memory   optional, number of ms for which the server then remembers the request
-- ->    renewed
--       not_ours  this owner does not hold the lock, or the inner hold has ended
local holds_of = include('hold/holds_of')
local still_held = include('hold/still_held')

if redis.call('type', lock).ok ~= 'hash' or not holds_of(lock, owner) then return 'not_ours' end
if not still_held(request, memory, shares) then return 'not_ours' end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
return 'renewed'
