-- Delete a lock, no matter who holds it. Then wake up the waiters whose turn it is, in the line and in the queue of a fair lock.
-- This call may be sent twice.
--
-- KEYS  lock     hash: owner -> holds
--       queue: order, deadlines, alive  the queue of a fair lock, see fair_queue/mended_queue. The waiters keep their places
--       line: order, waiters, facts  the waiters for a lock that is not fair, see line/in_turn
-- ARGV  owner    delete the lock only if this owner holds it; '': delete it in any case
--       channel  releases are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
-- ->    {removed, why}        why: the reason why waiters could not be told; '': they were told
--       {absent}              there is no lock
--       {other_owner, other}  another owner holds the lock
--       {foreign, kind}       the key holds something else
local kind_of = include('redis/kind_of')
local holder_of = include('hold/holder_of')
local announce = include('redis/announce')
local first_reason = include('redis/first_reason')
local announce_to_head = include('fair_queue/announce_to_head')
local tell_waiters = include('line/tell_waiters')

local kind = kind_of(lock)
if kind == 'none' then return {'absent'} end
if kind ~= 'lock' then return {'foreign', kind} end
if owner ~= '' and redis.call('hexists', lock, owner) == 0 then return {'other_owner', holder_of(lock)} end

redis.call('del', lock)
local why = announce(channel, '0', sharded)
return {'removed', first_reason(why, announce_to_head(queue), tell_waiters(line, 1))}
