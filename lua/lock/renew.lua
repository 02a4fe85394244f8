-- Start the lease anew, for its owner only. This script never shortens the lease: another hold of the same owner may need a
-- longer one.
-- This call may be sent twice.
--
-- KEYS  lock     hash: owner -> holds
--       request  optional, string: of an inner hold, the request that acquired it; see lock/enter
--       grants   optional, string: of an owner that may return, see hold/note_grant
-- ARGV  owner    whose hold it is
--       lease    number of milliseconds, at least 1
--       memory   optional, number of ms for which the server then remembers the request
-- ->    renewed
--       not_ours  this owner does not hold the lock, or the inner hold has ended
local goes_on = include('hold/goes_on')

if redis.call('type', lock).ok ~= 'hash' then return 'not_ours' end
if not (redis.call('hget', lock, owner) or ''):find('^[1-9]%d*$') then return 'not_ours' end
if not goes_on(request, memory, grants) then return 'not_ours' end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
return 'renewed'
