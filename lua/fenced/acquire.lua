-- Acquire the lock and draw a fencing token, which is larger than all tokens before it.
-- This call may be sent twice: an owner who has the lock gets the last token and draws none.
--
-- KEYS  lock     hash: owner -> holds. Its TTL is the lease; this script never shortens it
--       token    string: the last token. It has no TTL and outlives every hold
--       line: order, waiters, facts  the waiters, see line/in_turn
--       request  optional, string: as in lock/acquire
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  those of lock/acquire
-- ->    {held, now, token}  now is the server's time in ms since the epoch
--       {busy, ...}         see line/in_turn
--       {superseded, who}   see line/superseded_by
--       {not_ours}          this is a late copy: the hold that it acquired has ended
--       {foreign, kind}     one of the keys holds something else
-- A script that calls this one gets two more values with {held, ...}: see hold/all_or_none.
local kind_of = include('redis/kind_of')
local take_lock = include('hold/take_lock')

local counter = kind_of(token)
if counter ~= 'none' and counter ~= 'number' then return {'foreign', 'token'} end
local hold = {lock = lock, owner = owner, request = request, shares = shares, lease = lease, memory = memory}
return take_lock(hold, line, function(ours)
  return ours and tonumber(redis.call('get', token)) or redis.call('incr', token)
end)
