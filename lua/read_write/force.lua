-- Remove a read/write lock, whoever holds it, and wake who waits. The timeout keys of readers end by
-- themselves.
-- May be sent twice.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds
--       line, waiters, facts
--                who waits for it: see in_turn
-- ARGV  owner    only if this one reads or writes; '': any
--       channel  where to announce it
--       sharded  1: as sharded pub/sub too
-- ->    {removed, why}        why: the waiters could not be told, because of this ('': they were)
--       {absent}              nothing there
--       {other_owner, other}  another owner holds it
--       {foreign, kind}       something else stands there
local lock = KEYS[1]
local owner, channel, sharded = ARGV[1], ARGV[2], ARGV[3]
local kind_of = include('kind_of')
local holder_of = include('holder_of')
local announce = include('announce')
local discard = include('discard')
local tell_waiters = include('tell_waiters')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 2, channel, sharded)

local kind = kind_of(lock)
if kind == 'none' then return {'absent'} end
if kind ~= 'read-write' then return {'foreign', kind} end
local holds = redis.call('hmget', lock, owner, owner .. ':write')
if owner ~= '' and not holds[1] and not holds[2] then return {'other_owner', holder_of(lock)} end

local mode = redis.call('hget', lock, 'mode')
discard(lock)
local why = announce(channel, mode == 'read' and '0' or '1', sharded)
local why_not_first = tell_waiters(queue, 1)
return {'removed', why ~= '' and why or why_not_first}
