-- Delete a read/write lock, or the holds of one reader among others, and wake up the waiters. Without that reader, the lock lasts
-- no longer than the readers that are alive. The timeout keys expire by themselves.
-- This call may be sent twice.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds
--       line: order, waiters, facts  the waiters, see line/in_turn
-- ARGV  owner    delete only the holds of this owner; '': delete the lock, no matter who holds it
--       channel  releases are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       beside   see hold/rest_of_reader
-- ->    {removed, why}        why: the reason why waiters could not be told; '': they were told, or others still read
--       {absent}              there is no lock
--       {other_owner, other}  another owner holds the lock
--       {foreign, kind}       the key holds something else
local kind_of = include('redis/kind_of')
local holder_of = include('hold/holder_of')
local announce = include('redis/announce')
local first_reason = include('redis/first_reason')
local discard = include('redis/discard')
local readers_left = include('hold/readers_left')
local tell_waiters = include('line/tell_waiters')

local kind = kind_of(lock)
if kind == 'none' then return {'absent'} end
if kind ~= 'read-write' then return {'foreign', kind} end
local holds = redis.call('hmget', lock, owner, owner .. ':write')
if owner ~= '' and not holds[1] and not holds[2] then return {'other_owner', holder_of(lock)} end

local mode = redis.call('hget', lock, 'mode')
local others_read = mode == 'read' and redis.call('hlen', lock) > 2
if owner ~= '' and others_read then
  redis.call('hdel', lock, owner)
  if readers_left(lock, 1000, beside) then return {'removed', ''} end
end
discard(lock)
local why = announce(channel, mode == 'read' and '0' or '1', sharded)
return {'removed', first_reason(why, tell_waiters(line, 1))}
