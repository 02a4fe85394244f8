-- Give an owner's permits back to their pool, and wake who waits for them.
-- May be sent twice, and late: they are gone the second time, and an owner who may come again is told by the
-- request.
--
-- KEYS  pool     string: how many permits are available
--       taken    zset: id (16 bytes) -> end of its lease (ms since the epoch, server time)
--       slots    zset: see mend_slots
--       line, waiters, facts
--                who waits for it: see in_turn
--       request  optional, string: as in lock/release
-- ARGV  owner    whose
--       count    how many it took
--       until    ms since the epoch (server time) before which they stay taken; 0: they need not
--       channel  where to announce it; '': nowhere
--       sharded  1: as sharded pub/sub too
--       memory   for how many ms the request is remembered
--       way      first, again or undo: as in lock/release
--       listen   where waiters are told, without their ":<owner>"
-- ->    {released, why}  why: the waiters could not be told, because of this ('': they were)
--       {kept, rest}     so many ms more
--       {not_ours}       it has none of them (any more)
--       CROWD, an error  more are taken than can be looked at
local pool, taken, slots, request = KEYS[1], KEYS[2], KEYS[3], KEYS[7]
local owner, count, keep_until, channel, sharded, memory, way =
  ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local kind_of = include('kind_of')
local now = include('now')
local announce = include('announce')
local reclaim = include('reclaim')
local taken_permits = include('taken_permits')
local permits_of = include('permits_of')
local forget_slots = include('forget_slots')
local mend_slots = include('mend_slots')
local in_pieces = include('in_pieces')
local answered_before = include('answered_before')
local leave_line = include('leave_line')
local tell_waiters = include('tell_waiters')
local queue_at = include('queue_at')
local queue = queue_at(KEYS, 4, ARGV[8], sharded)

local function give_back()
  local kind_taken = taken_permits(taken)
  if kind_taken == 'crowd' then return redis.error_reply('CROWD') end
  local before = answered_before(request, way, memory)
  if before then return before end
  local kind = kind_of(pool)
  if kind ~= 'none' and kind ~= 'number' then return {'not_ours'} end
  if kind_taken == 'none' then redis.call('del', slots) end
  if kind_taken ~= 'zset' then return {'not_ours'} end
  -- Removes nothing; but behind a write that takes no memory others are let through when none is left.
  redis.call('zrem', taken, '')
  local time = now()
  local there = kind == 'number'
  local back = there and reclaim(pool, taken, slots, time) or 0
  local found, tails = permits_of(owner, count, taken, slots)
  local ours = {}
  for i = 1, count do ours[#ours + 1] = found[i] end

  local rest = keep_until - time
  if rest > 0 and #ours > 0 then
    for _, id in ipairs(ours) do redis.call('zadd', taken, keep_until, id) end
    mend_slots(taken, slots, rest)
    return {'kept', rest}
  end

  if there then redis.call('incrby', pool, #ours) end
  in_pieces('zrem', taken, ours)
  forget_slots(taken, slots, tails)
  local left = redis.call('get', pool)
  local why = ''
  if #ours + back > 0 and left and tonumber(left) > 0 then why = announce(channel, left, sharded) end
  if #ours == 0 then return {'not_ours'} end
  if way == 'again' then redis.call('set', request, 1, 'px', memory) end
  return {'released', why}
end

local answer = give_back()
local released = answer[1] == 'released'
local done, left = answer[1] == 'not_ours', false
if done then done, left = pcall(leave_line, queue, owner, -2) end
if not released and not (done and left) then return answer end
local why = tell_waiters(queue, tonumber(redis.call('get', pool)) or 0)
return released and answer[2] == '' and {'released', why} or answer
