-- Give one hold back, and wake the waiters when it was the last.
-- May be sent twice, and late: a hold that is counted down is remembered by its request, so no copy counts
-- another down.
--
-- KEYS  lock     hash: owner -> holds
--       line, waiters, facts
--                who waits for it: see in_turn. Optional, as request
--       request  optional, string: the answer to this request; of an undo: that of the acquire. Without it
--                nothing is counted down: a single key can be released while its cluster slot migrates
--       keep     optional, string: until when the key stays although this owner had holds inside that went on:
--                "<owner>\n<until>"
-- ARGV  owner    whose
--       lease    milliseconds that the holds that remain keep at least
--       until    ms since the epoch (server time) before which the key stays; 0: it need not
--       channel  where to announce it; '': nowhere
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
--       way      first: the owner has it only once, so a late copy may free what a late acquire has taken;
--                again: the owner may have it again, which a late copy must not free;
--                undo: nothing happens unless the request has acquired
--       listen   where waiters are told, without their ":<owner>"
-- ->    {released, why}  free; why: the waiters could not be told, because of this ('': they were)
--       {still_held}     another hold of this owner remains
--       {kept, rest}     it stays for so many ms more, and as long as another hold of this owner remains
--       {held_inside}    others hold it inside this owner's; ask again with a request
--       {not_ours}       not held by this owner, which has no place in the line any more, either
local lock, request, keep = KEYS[1], KEYS[5], KEYS[6]
local owner, lease, keep_until, channel, sharded, memory, way =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local now = include('now')
local answered_before = include('answered_before')
local announce = include('announce')
local pass_on = include('pass_on')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 2, ARGV[8], sharded)

-- For how many ms the key has to stay: as this release wants it, or one of the same owner before it.
local function rest_to_keep()
  local noted = ''
  if keep and redis.call('type', keep).ok == 'string' then noted = redis.call('getrange', keep, 0, 4000) end
  local noted_owner, noted_until = string.match(noted, '^([^\n]*)\n(%d+)$')
  if noted_owner ~= owner then noted_until = 0 end
  return math.max(tonumber(keep_until), tonumber(noted_until)) - now()
end

local function still_held(rest)
  if keep and rest > 0 then return {'kept', rest} end
  return {'still_held'}
end

local function give_back()
  local before = answered_before(request, way, memory)
  if before and before[1] == 'still_held' then return still_held(rest_to_keep()) end
  if before then return before end
  if redis.call('type', lock).ok ~= 'hash' then return {'not_ours'} end
  local holds = tonumber(string.match(redis.call('hget', lock, owner) or '', '^[1-9]%d*$'))
  if not holds then return {'not_ours'} end

  if holds > 1 then
    if not request then return {'held_inside'} end
    local rest = rest_to_keep()
    redis.call('pexpire', lock, math.max(redis.call('pttl', lock), tonumber(lease)))
    if keep and rest > 0 then
      redis.call('set', keep, owner .. '\n' .. string.format('%.0f', now() + rest), 'px', rest)
    end
    if way ~= 'undo' then redis.call('set', request, 0, 'px', memory) end
    redis.call('hincrby', lock, owner, -1)
    return still_held(rest)
  end

  local rest = rest_to_keep()
  if rest > 0 then
    redis.call('pexpire', lock, rest)
    return {'kept', rest}
  end

  redis.call('del', lock)
  if way == 'again' then redis.call('set', request, 1, 'px', memory) end
  return {'released', announce(channel, '0', sharded, queue)}
end

return pass_on(queue, lock, owner, give_back())
