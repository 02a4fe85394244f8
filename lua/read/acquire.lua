-- Take the lock for reading: beside other readers, or beside one's own write hold.
-- May be sent twice: a first hold is set to 1, not counted; one more hold is remembered by its request. The
-- leases are never shortened.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds; its TTL is
--                that of the longest lease
--       timeout  string: exists while this owner's read holds count; its TTL is their lease
--       line, waiters, facts
--                who waits for it: see in_turn
--       request  optional, string: this request took the lock, or one more hold of it: as in lock/acquire
-- ARGV  owner    who asks
--       lease    milliseconds, >= 1
--       memory   for how many ms the request is remembered
--       waited   for how many ms this owner has waited; -1: it does not wait
--       channel  where waiters are told, without their ":<owner>"
--       sharded  1: by sharded pub/sub too
--       another  1: add one more hold to those of an owner who has the lock
-- ->    {held, now}           now is the server's time in ms since the epoch
--       {busy, ...}           see in_turn
--       {not_ours}            one more hold was asked for, and this owner has none; or a late copy: what it
--                             took is gone
--       {foreign, kind}       something else stands there
-- Redisson makes a timeout key for each hold of an owner and lets the longest count. Here all holds of an
-- owner share the first, which is the same for whoever looks.
-- To a script that includes this one: whether this call changed no count, too.
local lock, timeout, request = KEYS[1], KEYS[2], KEYS[6]
local owner, lease, memory, another = ARGV[1], ARGV[2], ARGV[3], ARGV[7] == '1'
local kind_of = include('kind_of')
local now = include('now')
local is_over = include('is_over')
local in_turn = include('in_turn')
local leave_line = include('leave_line')
local tell_waiters = include('tell_waiters')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 3, ARGV[5], ARGV[6], ARGV[4])

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'read-write' then return {'foreign', kind} end
local holds = tonumber(redis.call('hget', lock, owner) or 0)
local writes = redis.call('hexists', lock, owner .. ':write') == 1
if another and holds == 0 and not writes then return {'not_ours'} end

local time = now()  -- first: who may not ask for it takes nothing
local ends = redis.call('pttl', lock)
local reads = redis.call('hget', lock, 'mode') == 'read'
local ours = writes or reads and holds > 0
local room = kind == 'none' and 1 or reads and 0 or -1
local over = is_over(request, holds > 0)
local blocked = in_turn(queue, owner, ours, over, 0, room, ends, lock, time)
if blocked then return blocked end

local rest = math.max(redis.call('pttl', timeout), tonumber(lease))
local longest = math.max(ends, rest)
redis.call('pexpire', lock, longest)  -- first: who may not do this leaves no lock without a TTL
redis.call('set', timeout, 1, 'px', rest)
if kind == 'none' then redis.call('hset', lock, 'mode', 'read') end
local counts = another and redis.call('exists', request) == 0 or holds == 0
if counts then redis.call('hincrby', lock, owner, 1) end
if counts and request then redis.call('set', request, 1, 'px', memory) end
redis.call('pexpire', lock, longest)
if not ours and leave_line(queue, owner, longest) then tell_waiters(queue, 0, true) end
return {'held', time}, not counts
