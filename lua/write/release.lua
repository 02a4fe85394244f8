-- Give one write hold back. The last frees the lock, or leaves it to the owner's own read holds; both wake
-- everybody.
-- May be sent twice, and late: a hold that is counted down is remembered by its request, so no copy counts
-- another down.
--
-- KEYS  lock     hash: mode -> write, owner -> read holds, owner:write -> write holds
--       line, waiters, facts
--                who waits for it: see in_turn. Optional, as request
--       request  string: the answer to this request; of an undo: that of the acquire. Without it nothing is
--                counted down: a single key can be released while its cluster slot migrates
-- ARGV  owner    whose
--       lease    milliseconds that the holds that remain keep at least
--       until    ms since the epoch (server time) before which the key stays; 0: it need not
--       channel  where to announce it; '': nowhere
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
--       way      first, again or undo: as in lock/release
--       listen   where waiters are told, without their ":<owner>"
-- ->    {released, why}  why: the waiters could not be told, because of this ('': they were)
--       {still_held}     an outer hold remains
--       {kept, rest}     so many ms more
--       {held_inside}    others hold it inside this owner's; ask again with a request
--       {not_ours}       not held by this owner, which has no place in the line any more, either
local lock, request = KEYS[1], KEYS[5]
local owner, lease, keep_until, channel, sharded, memory, way =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local now = include('now')
local answered_before = include('answered_before')
local announce = include('announce')
local field_of = include('field_of')
local pass_on = include('pass_on')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 2, ARGV[8], sharded)

local function give_back()
  local before = answered_before(request, way, memory)
  if before then return before end
  local field = owner .. ':write'
  if redis.call('type', lock).ok ~= 'hash' or field_of(lock, 'mode', 5) ~= 'write' then
    return {'not_ours'}
  end
  local holds = tonumber(string.match(field_of(lock, field, 15) or '', '^[1-9]%d*$'))
  if not holds then return {'not_ours'} end

  if holds > 1 then
    if not request then return {'held_inside'} end
    redis.call('pexpire', lock, math.max(redis.call('pttl', lock), tonumber(lease)))
    if way ~= 'undo' then redis.call('set', request, 0, 'px', memory) end
    redis.call('hincrby', lock, field, -1)
    return {'still_held'}
  end

  local rest = tonumber(keep_until) - now()
  if rest > 0 then
    redis.call('pexpire', lock, rest)
    return {'kept', rest}
  end

  if redis.call('hlen', lock) == 2 then
    redis.call('del', lock)
  else
    redis.call('hdel', lock, field)
    -- Second: behind a write that takes no memory it is let through when none is left.
    redis.call('hset', lock, 'mode', 'read')
  end
  if way == 'again' then redis.call('set', request, 1, 'px', memory) end
  return {'released', announce(channel, '1', sharded, queue)}
end

return pass_on(queue, lock, owner, give_back())
