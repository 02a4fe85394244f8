-- After a reader has left: let the lock last no longer than the readers that are alive, and delete it if none is.
-- If the readers are not those that the call names, the script does nothing. The lock is in use, and the next reader to leave
-- asks again.
-- This call may be sent twice.
--
-- KEYS  lock      hash: mode -> read, owner -> read holds
--       line: order, waiters, facts  the waiters, see line/in_turn
--       timeouts...  strings: all timeout keys of all readers
-- ARGV  channel   releases are announced here, and each waiter listens on <channel>:<owner>
--       sharded   1 to publish by sharded pub/sub, too
--       readers...  owner and holds of each reader
-- ->    {released, why}  why: the reason why waiters could not be told; '': they were told, or others still read
local announce = include('redis/announce')
local field_of = include('redis/field_of')
local tell_waiters = include('line/tell_waiters')

if redis.call('type', lock).ok ~= 'hash' or field_of(lock, 'mode', 5) ~= 'read' then
  return {'released', ''}
end
if redis.call('hlen', lock) ~= #readers / 2 + 1 then return {'released', ''} end
for i = 1, #readers, 2 do
  if redis.call('hget', lock, readers[i]) ~= readers[i + 1] then return {'released', ''} end
end

local longest = 0
for _, timeout in ipairs(timeouts) do
  local rest = redis.call('pttl', timeout)
  if rest == -1 then return {'released', ''} end
  longest = math.max(longest, rest)
end
if longest > 0 then
  redis.call('pexpire', lock, longest)
  return {'released', ''}
end
redis.call('del', lock)
local why = announce(channel, '0', sharded)
local why_not_first = tell_waiters(line, 1)
return {'released', why ~= '' and why or why_not_first}
