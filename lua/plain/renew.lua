-- Start the lease anew, for its token only. This script never shortens the lease: another hold of the same token may need a
-- longer one.
-- This call may be sent twice.
--
-- KEYS  lock     string: the token
--       inner    optional, zset: the inner holds of this owner, see hold/outlived
--       request  optional, string: as in lock/renew
--       grants   optional, string: of an owner that may return, see hold/note_grant
-- ARGV  owner    the token of the holder
--       lease    number of milliseconds, at least 1
--       memory   optional, number: as in lock/renew
-- ->    renewed
--       not_ours  this token does not hold the lock, or the inner hold has ended
local now = include('redis/now')
local is_value = include('redis/is_value')
local goes_on = include('hold/goes_on')
local join = include('hold/join')

if redis.call('type', lock).ok ~= 'string' or not is_value(lock, owner) then return 'not_ours' end
if not goes_on(request, memory, grants) then return 'not_ours' end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
join(not grants and inner, request, now() + lease, memory)
return 'renewed'
