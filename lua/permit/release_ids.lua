-- Give permits back by their ids, whoever took them, and wake who waits for them. Of ids that are not taken
-- (any more) it is said so; the others are given back all the same.
-- May be sent twice: they are gone the second time.
--
-- KEYS  pool     string: how many permits are available
--       taken    zset: id (16 bytes) -> end of its lease (ms since the epoch)
--       slots    zset: see mend_slots
--       line, waiters, facts
--                who waits for it: see in_turn
-- ARGV  channel  where to announce it; '': nowhere
--       sharded  1: as sharded pub/sub too
--       id, ...  16 bytes each
-- ->    {why, 1 or 0, ...}  for each id: given back, or not taken; why: the waiters could not be told,
--                           because of this
local pool, taken, slots = KEYS[1], KEYS[2], KEYS[3]
local channel, sharded = ARGV[1], ARGV[2]
local kind_of = include('kind_of')
local now = include('now')
local announce = include('announce')
local tell_waiters = include('tell_waiters')
local queue_at = include('queue_at')
local reclaim = include('reclaim')
local taken_permits = include('taken_permits')
local forget_slots = include('forget_slots')
local slot_in = include('slot_in')

local kind = kind_of(pool)
local there = kind == 'number'
local kind_taken = taken_permits(taken)
local readable = (there or kind == 'none') and (kind_taken == 'zset' or kind_taken == 'crowd')
-- Removes nothing; but behind it writes are let through when memory is short.
if readable then redis.call('zrem', taken, '') end
local back = there and kind_taken == 'zset' and reclaim(pool, taken, slots, now()) or 0
local answer, gone = {''}, {}
for i = 3, #ARGV do
  answer[i - 1] = 0
  if readable and redis.call('zrem', taken, ARGV[i]) == 1 then
    if there then redis.call('incrby', pool, 1) end
    answer[i - 1] = 1
    back = back + 1
    local _, tail = slot_in(ARGV[i])
    gone[#gone + 1] = tail
  end
end
if readable then forget_slots(taken, slots, gone) end
local left = back > 0 and redis.call('get', pool)
if left and tonumber(left) > 0 then
  local queue = queue_at(KEYS, 4, channel, sharded)
  local why = announce(channel, left, sharded)
  local why_not_first = tell_waiters(queue, tonumber(left))
  answer[1] = why ~= '' and why or why_not_first
end
return answer
