-- Give one read hold back. Who was the only one frees the lock and wakes who waits.
-- May be sent twice, and late: a hold that is counted down is remembered by its request, so no copy counts
-- another down.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds
--       timeout  string: exists while this owner's read holds count
--       line, waiters, facts
--                who waits for it: see in_turn
--       request  string: the answer to this request; of an undo: that of the acquire
-- ARGV  owner    whose
--       lease    milliseconds that the holds that remain keep at least
--       until    ms since the epoch (server time) before which the hold stays; 0: it need not
--       channel  where to announce it; '': nowhere
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
--       way      first, again or undo: as in lock/release
--       listen   where waiters are told, without their ":<owner>"
-- ->    {released, why}  why: the waiters could not be told, because of this ('': they were, or others read
--                        on)
--       {still_held}     an outer hold remains
--       {kept, rest}     so many ms more
--       {readers, owner, holds, ...}
--                        released, and these are written down as readers too. Some may be dead: read/sweep,
--                        with their timeout keys, sees to it that they do not keep the lock longer than they
--                        may
--       {not_ours}       not held by this owner, which has no place in the line any more, either
local lock, timeout, request = KEYS[1], KEYS[2], KEYS[6]
local owner, lease, keep_until, channel, sharded, memory, way =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local now = include('now')
local answered_before = include('answered_before')
local announce = include('announce')
local field_of = include('field_of')
local pass_on = include('pass_on')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 3, ARGV[8], sharded)

local function give_back()
  local before = answered_before(request, way, memory)
  if before then return before end
  if redis.call('type', lock).ok ~= 'hash' then return {'not_ours'} end
  local mode = field_of(lock, 'mode', 5)
  local holds = tonumber(string.match(field_of(lock, owner, 15) or '', '^[1-9]%d*$'))
  if not mode or not holds then return {'not_ours'} end

  if holds > 1 then
    redis.call('pexpire', lock, math.max(redis.call('pttl', lock), tonumber(lease)))
    if redis.call('pttl', timeout) < tonumber(lease) then redis.call('set', timeout, 1, 'px', lease) end
    if way ~= 'undo' then redis.call('set', request, 0, 'px', memory) end
    redis.call('hincrby', lock, owner, -1)
    return {'still_held'}
  end

  local alone = redis.call('hlen', lock) == 2
  local rest = tonumber(keep_until) - now()
  if rest > 0 then
    redis.call('pexpire', lock, alone and rest or math.max(redis.call('pttl', lock), rest))
    -- Second: behind a write that takes no memory it is let through when none is left.
    redis.call('set', timeout, 1, 'px', rest)
    return {'kept', rest}
  end

  redis.call('hdel', lock, owner)
  redis.call('del', timeout)
  if way == 'again' then redis.call('set', request, 1, 'px', memory) end
  if alone then
    redis.call('del', lock)
    return {'released', announce(channel, '0', sharded, queue)}
  end
  if mode == 'write' or redis.call('hlen', lock) > 101 then return {'released', ''} end
  local others = {'readers'}
  local fields = redis.call('hgetall', lock)
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' then
      others[#others + 1] = fields[i]
      others[#others + 1] = fields[i + 1]
    end
  end
  return others
end

return pass_on(queue, lock, owner, give_back())
