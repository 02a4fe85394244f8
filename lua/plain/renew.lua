-- Start the lease anew, for its token only. This script never shortens the lease: another hold of the same token may need a
-- longer one.
-- This call may be sent twice.
--
-- KEYS  lock     string: the token
--       inner    optional, zset: the inner holds of this owner, see hold/release_inner
--       request  optional, string: as in lock/renew
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    the token of the holder
--       lease    number of milliseconds, at least 1
--       memory   optional, number: as in lock/renew
-- ->    renewed
--       not_ours  this token does not hold the lock, or the inner hold has ended
local now = include('redis/now')
local is_value = include('redis/is_value')
local still_held = include('hold/still_held')
local join = include('hold/join')

if redis.call('type', lock).ok ~= 'string' or not is_value(lock, owner) then return 'not_ours' end
if not still_held(request, memory, shares) then return 'not_ours' end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
join(not shares and inner, request, now() + lease, memory)
return 'renewed'
