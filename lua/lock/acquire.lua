-- Take the lock, or say how long its holder may still keep it.
-- May be sent twice: a first hold is set to 1, not counted, and the holds of one who has it stay as they are.
--
-- KEYS  lock     hash: owner -> holds; its TTL is the lease, which this never shortens
--       line, waiters, facts
--                who waits for it: see in_turn. Optional: a call of one key works while a cluster slot migrates
--       request  optional, string: this request took the lock. For an owner who may have it before and after,
--                so that an undo touches nothing else, and a late copy takes nothing
-- ARGV  owner    who asks
--       lease    milliseconds, >= 1
--       memory   for how many ms the request is remembered
--       waited   for how many ms this owner has waited; -1: it does not wait
--       channel  where waiters are told, without their ":<owner>"
--       sharded  1: by sharded pub/sub too
-- ->    {held, now}           now is the server's time in ms since the epoch
--       {busy, ...}           see in_turn
--       {not_ours}            a late copy: what it took is gone
--       {foreign, kind}       something else stands there
-- To a script that includes this one: whether this call changed no count, too.
local lock, request = KEYS[1], KEYS[5]
local owner, lease, memory = ARGV[1], ARGV[2], ARGV[3]
local kind_of = include('kind_of')
local now = include('now')
local is_over = include('is_over')
local in_turn = include('in_turn')
local leave_line = include('leave_line')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 2, ARGV[5], ARGV[6], ARGV[4])

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'lock' then return {'foreign', kind} end
local ours = redis.call('hexists', lock, owner) == 1

local time = now()  -- first: who may not ask for it takes nothing
local rest = redis.call('pttl', lock)
local over = is_over(request, ours)
local blocked = in_turn(queue, owner, ours, over, 1, kind == 'none' and 1 or 0, rest, lock, time)
if blocked then return blocked end

local longest = math.max(rest, tonumber(lease))
redis.call('pexpire', lock, longest)  -- first: who may not do this leaves no lock without a TTL
redis.call('hsetnx', lock, owner, 1)
redis.call('pexpire', lock, longest)
if request and not ours then redis.call('set', request, 1, 'px', memory) end
if not ours then leave_line(queue, owner, longest) end
return {'held', time}, ours
