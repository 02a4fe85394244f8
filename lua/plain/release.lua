-- Release one hold. If it was the owner's last one, delete the lock. This script announces nothing: no client of this kind of
-- lock listens.
-- This call may be sent twice, and late: the second copy finds no lock of this owner. If the owner may acquire the lock again
-- (way: again), the server remembers the request, so a late copy does not release the new hold.
--
-- KEYS  lock     string: the token
--       inner    optional, zset: the inner holds of this owner, see hold/release_inner
--       request  optional, string: as in lock/release
--       keep     optional, string: as in lock/release
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    the token of the holder
--       keep_until  number of ms since the epoch, server time: the lock stays until then; 0: it may end now
--       memory   for how many ms the server remembers the request
--       way      first, again or undo: as in lock/release
--       inside   1: it is an inner hold, which `request` has acquired
-- ->    {released, ''}  the lock is free
--       {still_held}    another hold of this owner remains, or other acquires share this one (see shares/drop_share)
--       {kept, rest}    the lock stays for this many ms, and for as long as another hold of this owner remains
--       {not_ours}      this token does not hold the lock
--       {not_ours, ''}  the hold has ended, and its token has acquired the lock anew
local now = include('redis/now')
local answered_before = include('hold/answered_before')
local remember = include('hold/remember')
local release_inner = include('hold/release_inner')
local rest_to_keep = include('hold/rest_to_keep')
local keep_lock = include('hold/keep_lock')
local kept_or_held = include('hold/kept_or_held')
local is_value = include('redis/is_value')

local has = redis.call('type', lock).ok == 'string' and is_value(lock, owner)
local hold = {entry = owner, fields('owner, request, shares, keep, keep_until, way, memory')}
local before = answered_before(hold, has)
if before then return before end
if not has then return {'not_ours'} end
local goes_on = release_inner(inner, inside == '1' and request or nil, 1, now())
local rest = rest_to_keep(hold, goes_on)
if goes_on then
  remember(hold, 0)
  return kept_or_held(rest)
end
if rest > 0 then return keep_lock(lock, hold, rest) end
redis.call('del', lock)
remember(hold, 1)
return {'released', ''}
