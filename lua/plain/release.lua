-- Release one hold. If it was the owner's last one, delete the lock. This script announces nothing: no client of this kind of
-- lock listens.
-- This call may be sent twice, and late: the second copy finds no lock of this owner. If the owner may acquire the lock again
-- (way: again), the server remembers the request, so a late copy does not release the new hold.
--
-- KEYS  lock     string: the token
--       inner    optional, zset: the inner holds of this owner, see hold/outlived
--       request  optional, string: as in lock/release
--       keep     optional, string: as in lock/release
--       grants   optional, string: of an owner that may return, see hold/note_grant
-- ARGV  owner    the token of the holder
--       keep_until  number of ms since the epoch, server time: the lock stays until then; 0: it may end now
--       memory   for how many ms the server remembers the request
--       way      first, again or undo: as in lock/release
--       inside   1: it is an inner hold, which `request` has acquired
-- ->    {released, ''}  the lock is free
--       {still_held}    another hold of this owner remains, or other acquires share this one (see hold/drop_grant)
--       {kept, rest}    the lock stays for this many ms, and for as long as another hold of this owner remains
--       {not_ours}      this token does not hold the lock
--       {not_ours, ''}  the hold has ended, and its token has acquired the lock anew
local now = include('redis/now')
local answered_before = include('hold/answered_before')
local remember_answer = include('hold/remember_answer')
local outlived = include('hold/outlived')
local rest_to_keep = include('hold/rest_to_keep')
local nothing_shares = include('hold/nothing_shares')
local is_value = include('redis/is_value')

local has = redis.call('type', lock).ok == 'string' and is_value(lock, owner)
local before = answered_before(request, way, memory, keep, owner, keep_until, grants, owner, has)
if before then return before end
if not has then return {'not_ours'} end
local goes_on = outlived(inner, inside == '1' and request or nil, 1, now())
local rest = rest_to_keep(keep, owner, keep_until, goes_on)
if goes_on then
  remember_answer(way, request, 0, memory)
  return rest > 0 and {'kept', rest} or {'still_held'}
end
if rest > 0 then
  redis.call('pexpire', lock, rest)
  nothing_shares(request, owner, rest)
  remember_answer(way, request, 0, memory)
  return {'kept', rest}
end
redis.call('del', lock)
remember_answer(way, request, 1, memory)
return {'released', ''}
