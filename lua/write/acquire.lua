-- Take the lock for writing: alone.
-- May be sent twice: a first hold is set to 1, not counted; one more hold is remembered by its request. The
-- leases are never shortened.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds; its TTL is
--                that of the longest lease
--       line, waiters, facts
--                who waits for it: see in_turn
--       request  optional, string: this request took the lock, or one more hold of it: as in lock/acquire
-- ARGV  owner    who asks
--       lease    milliseconds, >= 1
--       memory   for how many ms the request is remembered
--       waited   for how many ms this owner has waited; -1: it does not wait
--       channel  where waiters are told, without their ":<owner>"
--       sharded  1: by sharded pub/sub too
--       another  1: add one more hold to those of an owner who writes
-- ->    {held, now}           now is the server's time in ms since the epoch
--       {busy, ...}           see in_turn
--       {not_ours}            one more hold was asked for, and this owner has none; or a late copy: what it
--                             took is gone
--       {upgrade}             this owner reads: it would wait for itself
--       {foreign, kind}       something else stands there
-- To a script that includes this one: whether this call changed no count, too.
local lock, request = KEYS[1], KEYS[5]
local owner, lease, memory, another = ARGV[1], ARGV[2], ARGV[3], ARGV[7] == '1'
local kind_of = include('kind_of')
local now = include('now')
local is_over = include('is_over')
local in_turn = include('in_turn')
local leave_line = include('leave_line')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 2, ARGV[5], ARGV[6], ARGV[4])

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'read-write' then return {'foreign', kind} end
local field = owner .. ':write'
local writes = redis.call('hexists', lock, field) == 1
if not writes and redis.call('hexists', lock, owner) == 1 then return {'upgrade'} end
if another and not writes then return {'not_ours'} end

local time = now()  -- first: who may not ask for it takes nothing
local rest = redis.call('pttl', lock)
local room = kind == 'none' and 1 or 0
local over = is_over(request, writes)
local blocked = in_turn(queue, owner, writes, over, 1, room, rest, lock, time)
if blocked then return blocked end

local longest = math.max(rest, tonumber(lease))
redis.call('pexpire', lock, longest)  -- first: who may not do this leaves no lock without a TTL
local counts = another and redis.call('exists', request) == 0 or not writes
if counts then
  redis.call('hset', lock, 'mode', 'write')
  redis.call('hincrby', lock, field, 1)
  if request then redis.call('set', request, 1, 'px', memory) end
end
redis.call('pexpire', lock, longest)
if not writes then leave_line(queue, owner, longest) end
return {'held', time}, not counts
