-- Acquire the lock for writing: alone.
-- This call may be sent twice: the second copy changes no count. (A first hold is set to 1; for one more hold the server
-- remembers the request.) This script never shortens a lease.
--
-- QUORUM  without the line
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds. Its TTL is the longest lease
--       line: order, waiters, facts  the waiters, see line/in_turn
--       request  optional, string: records that this request has acquired the lock, or one more hold; see lock/acquire
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  those of read/acquire
-- ->    {held, now}      now is the server's time in ms since the epoch
--       {busy, ...}      see line/in_turn
--       {superseded, who} see line/superseded_by
--       {not_ours}       one more hold was asked for, but this owner has none; or this is a late copy: the hold that it
--                        acquired has ended
--       {upgrade}        this owner reads: it would wait for itself
--       {foreign, kind}  the key holds something else
-- A script that calls this one gets two more values with {held, ...}: see hold/all_or_none.
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local is_late_copy = include('hold/is_late_copy')
local only_inner_left = include('shares/only_inner_left')
local add_share = include('shares/add_share')
local in_turn = include('line/in_turn')
local leave_line = include('line/leave_line')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'read-write' then return {'foreign', kind} end
local field = owner .. ':write'
local writes = redis.call('hexists', lock, field) == 1
if not writes and redis.call('hexists', lock, owner) == 1 then return {'upgrade'} end
if another == '1' and not writes then return {'not_ours'} end

local time = now()  -- before the first write: a client that may not ask for the time acquires nothing
local rest = redis.call('pttl', lock)
local room = kind == 'none' and 1 or 0
local blocked = in_turn(line, {
  owner = owner, ours = writes, over = is_late_copy(request, writes), needs = 1, room = room, rest = rest, lock = lock,
  time = time,
})
if blocked then return blocked end

local longest = math.max(rest, lease)
redis.call('pexpire', lock, longest)  -- first: a client that may not PEXPIRE leaves no lock without a TTL
local counts = another == '1' and redis.call('exists', request) == 0 or not writes or only_inner_left(shares)
if counts then redis.call('hset', lock, 'mode', 'write') end
redis.call('pexpire', lock, longest)  -- before HINCRBY, so that a client without the right to it leaves no lock without a TTL
if counts then
  redis.call('hincrby', lock, field, 1)
  if request then redis.call('set', request, 1, 'px', memory) end
end
if shares then add_share(shares, request, memory, counts) end
if not writes then leave_line(line, owner, longest) end
return {'held', time}, not counts, line and line.passed and line
