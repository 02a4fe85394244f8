-- Acquire the lock and draw a fencing token, which is larger than all tokens before it.
-- This call may be sent twice: an owner who has the lock gets the last token and draws none.
--
-- KEYS  lock     hash: owner -> holds. Its TTL is the lease; this script never shortens it
--       token    string: the last token. It has no TTL and outlives every hold
--       line: order, waiters, facts  the waiters, see line/in_turn
--       request  optional, string: as in lock/acquire
-- ARGV  those of lock/acquire
-- ->    {held, now, token}  now is the server's time in ms since the epoch
--       {busy, ...}         see line/in_turn
--       {superseded, who}    see line/superseded_by
--       {not_ours}          this is a late copy: the hold that it acquired has ended
--       {foreign, kind}     one of the keys holds something else
-- A script that calls this one gets two more values: whether the owner held the lock before; and `line`, if the owner has
-- passed the waiters in it.
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local is_over = include('hold/is_over')
local in_turn = include('line/in_turn')
local leave_line = include('line/leave_line')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'lock' then return {'foreign', kind} end
local ours = redis.call('hexists', lock, owner) == 1
local counter = kind_of(token)
if counter ~= 'none' and counter ~= 'number' then return {'foreign', 'token'} end

local time = now()  -- before the first write: a client that may not ask for the time acquires nothing
local rest = redis.call('pttl', lock)
local blocked = in_turn(line, {
  owner = owner, ours = ours, over = is_over(request, ours), needs = 1, room = kind == 'none' and 1 or 0, rest = rest,
  lock = lock, time = time,
})
if blocked then return blocked end

local longest = math.max(rest, lease)
redis.call('pexpire', lock, longest)  -- first: a client that may not do this leaves no lock without a TTL
local drawn = ours and tonumber(redis.call('get', token)) or redis.call('incr', token)
redis.call('hsetnx', lock, owner, 1)
redis.call('pexpire', lock, longest)
if request and not ours then redis.call('set', request, 1, 'px', memory) end
if not ours then leave_line(line, owner, longest) end
return {'held', time, drawn}, ours, line and line.passed and line
