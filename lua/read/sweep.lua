-- After a reader has left: let the lock last no longer than the readers that live, and free it if none does.
-- Does nothing when the readers are not those that were told: then it is in use, and the next who leaves
-- looks again.
-- May be sent twice.
--
-- KEYS  lock             hash: mode -> read, owner -> read holds
--       line, waiters, facts
--                        who waits for it: see in_turn
--       timeout…         strings: all timeout keys of all readers
-- ARGV  channel          where to announce that it is free; '': nowhere
--       sharded          1: as sharded pub/sub too
--       listen           where waiters are told, without their ":<owner>"
--       readers          how many readers follow
--       owner, holds, …  the readers
-- ->    {released, why}  done; why: the waiters could not be told, because of this ('': they were, or others
--                        read on)
local lock = KEYS[1]
local channel, sharded, readers = ARGV[1], ARGV[2], tonumber(ARGV[4])
local announce = include('announce')
local field_of = include('field_of')
local tell_waiters = include('tell_waiters')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 2, ARGV[3], sharded)

if redis.call('type', lock).ok ~= 'hash' or field_of(lock, 'mode', 5) ~= 'read' then
  return {'released', ''}
end
if redis.call('hlen', lock) ~= readers + 1 then return {'released', ''} end
for i = 1, readers do
  if redis.call('hget', lock, ARGV[3 + 2 * i]) ~= ARGV[4 + 2 * i] then return {'released', ''} end
end

local longest = 0
for i = 5, #KEYS do
  local rest = redis.call('pttl', KEYS[i])
  if rest == -1 then return {'released', ''} end
  longest = math.max(longest, rest)
end
if longest > 0 then
  redis.call('pexpire', lock, longest)
  return {'released', ''}
end
redis.call('del', lock)
local why = announce(channel, '0', sharded)
local why_not_first = tell_waiters(queue, 1)
return {'released', why ~= '' and why or why_not_first}
