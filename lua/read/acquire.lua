-- Acquire the lock for reading: beside other readers, or beside a write hold of the same owner.
-- This call may be sent twice: the second copy changes no count. (A first hold is set to 1; for one more hold the server
-- remembers the request.) This script never shortens a lease.
--
-- QUORUM  without the line
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds. Its TTL is the longest lease
--       timeout  string: the read holds of this owner count while it exists. Its TTL is their lease
--       line: order, waiters, facts  the waiters, see line/in_turn
--       request  optional, string: records that this request has acquired the lock, or one more hold; see lock/acquire. Its
--                value tells a read hold from a write hold of the same owner
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    the owner that asks
--       lease    number of milliseconds, at least 1
--       memory   for how many ms the server remembers the request
--       waited   number of ms that this owner has waited; -1: it does not wait
--       channel  each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       another  1 to add one hold to those of an owner who has the lock
--       ticket   optional, number: as in lock/acquire; only a writer has one
-- ->    {held, now}      now is the server's time in ms since the epoch
--       {busy, ...}      see line/in_turn
--       {not_ours}       one more hold was asked for, but this owner has none; or this is a late copy: the hold that it
--                        acquired has ended
--       {foreign, kind}  the key holds something else
-- Redisson makes a timeout key for each hold of an owner, and the longest counts. rlock uses only the first one, for all holds of
-- the owner. For other clients this has the same effect. If no such key is left, the read holds that the lock still counts for
-- the owner have ended: the count and the shares begin anew.
-- A script that calls this one gets two more values with {held, ...}: see hold/all_or_none.
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local is_late_copy = include('hold/is_late_copy')
local only_inner_left = include('shares/only_inner_left')
local add_share = include('shares/add_share')
local in_turn = include('line/in_turn')
local leave_line = include('line/leave_line')
local tell_waiters = include('line/tell_waiters')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'read-write' then return {'foreign', kind} end
local left, holds = redis.call('pttl', timeout), tonumber(redis.call('hget', lock, owner) or 0)
for hold = 2, math.min(holds, 100) do left = math.max(left, redis.call('pttl', timeout:sub(1, -2) .. hold)) end
if left == -2 then holds = 0 end
local writes = redis.call('hexists', lock, owner .. ':write') == 1
if another == '1' and holds == 0 and not writes then return {'not_ours'} end

local time = now()  -- before the first write: a client that may not ask for the time acquires nothing
local rest = redis.call('pttl', lock)
local ours = writes or holds > 0
local room = kind == 'none' and 1 or redis.call('hget', lock, 'mode') == 'read' and 0 or -1
local blocked = in_turn(line, {
  owner = owner, ours = ours, over = is_late_copy(request, holds > 0), needs = 0, room = room, rest = rest, lock = lock,
  time = time,
})
if blocked then return blocked end

local stays = math.max(left, lease)
local longest = math.max(rest, stays)
redis.call('pexpire', lock, longest)  -- first: a client that may not PEXPIRE leaves no lock without a TTL
redis.call('set', timeout, 1, 'px', stays)
redis.call('hsetnx', lock, 'mode', 'read')
redis.call('pexpire', lock, longest)  -- before HSET, so that a client without the right to it leaves no lock without a TTL
local counts = another == '1' and redis.call('exists', request) == 0 or holds == 0 or only_inner_left(shares)
if counts then
  redis.call('hset', lock, owner, holds + 1)
  if request then redis.call('set', request, 'read', 'px', memory) end
end
if shares then add_share(shares, request, memory, counts or left < 0) end
if not ours and leave_line(line, owner, longest) then tell_waiters(line, 0, true) end
return {'held', time}, not counts, line and line.passed and line
