-- Acquire a token lock, which many other programs use, too: a string that is the token of its holder. Or answer how long it may
-- be held.
-- This call may be sent twice.
--
-- KEYS  lock     string: the token. Its TTL is the lease; this script never shortens it
--       inner    optional, zset: the inner holds of this owner, see hold/release_inner
--       request  optional, string: as in lock/acquire
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    the token of the client that asks
--       lease    number of milliseconds, at least 1
--       memory   for how many ms the server remembers the request
-- ->    {held, now}      now is the server's time in ms since the epoch
--       {busy, rest}     ask again after this many ms; -1: the key has no TTL
--       {not_ours}       this is a late copy: the hold that it acquired has ended
--       {foreign, kind}  the key holds something else. A number without a TTL is a counter, not a token
-- A script that calls this one gets one more value with {held, ...}: `had`, see hold/all_or_none.
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local is_late_copy = include('hold/is_late_copy')
local is_value = include('redis/is_value')
local starts_anew = include('hold/starts_anew')
local add_share = include('shares/add_share')

local kind = kind_of(lock)
if kind ~= 'none' then
  if kind ~= 'string' and kind ~= 'number' then return {'foreign', kind} end
  local rest = redis.call('pttl', lock)
  if kind == 'number' and rest < 0 then return {'foreign', kind} end
  if not is_value(lock, owner) then return {'busy', rest} end
end
local ours = kind ~= 'none'
if is_late_copy(request, ours) then return {'not_ours'} end

local time = now()  -- before the first write: a client that may not ask for the time acquires nothing
redis.call('set', lock, owner, 'px', math.max(redis.call('pttl', lock), lease))
local anew = starts_anew(inner, request, ours)
if request and anew then redis.call('set', request, 1, 'px', memory) end
if shares then add_share(shares, request, memory, anew) end
return {'held', time}, not anew
