-- Remove a lock, whoever holds it, and wake who waits: everybody, or the head of a fair queue.
-- May be sent twice.
--
-- KEYS  lock                hash: owner -> holds
--       queue               list: the queue of a fair lock; it stays
--       deadlines, waiters  its other keys
--       line, line_waiters, line_facts
--                           who waits for a lock that is not fair: see in_turn
-- ARGV  owner               only if this one holds it; '': any
--       channel             where to announce it
--       sharded             1: as sharded pub/sub too
-- ->    {removed, why}        why: the waiters could not be told, because of this ('': they were)
--       {absent}              nothing there
--       {other_owner, other}  another owner holds it
--       {foreign, kind}       something else stands there
local lock, queue, deadlines, waiters = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, channel, sharded = ARGV[1], ARGV[2], ARGV[3]
local kind_of = include('kind_of')
local holder_of = include('holder_of')
local announce = include('announce')
local announce_to_head = include('announce_to_head')
local tell_waiters = include('tell_waiters')
local queue_at = include('queue_at')
local line = queue_at(KEYS, 5, channel, sharded)

local kind = kind_of(lock)
if kind == 'none' then return {'absent'} end
if kind ~= 'lock' then return {'foreign', kind} end
if owner ~= '' and redis.call('hexists', lock, owner) == 0 then return {'other_owner', holder_of(lock)} end

redis.call('del', lock)
local why = announce(channel, '0', sharded)
local why_not_head = announce_to_head(queue, deadlines, waiters, channel, sharded)
local why_not_first = tell_waiters(line, 1)
return {'removed', why ~= '' and why or why_not_head ~= '' and why_not_head or why_not_first}
