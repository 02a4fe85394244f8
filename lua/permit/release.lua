-- Release an owner's permits, and wake up the waiters.
-- This call may be sent twice, and late: the second copy finds no permits. If the owner may come again, the request tells the
-- copy.
--
-- KEYS  pool     string: the number of permits that are available
--       taken    zset: id (16 bytes) -> end of its lease, in ms since the epoch, server time
--       slots    zset: see permits/mend_slots
--       line: order, waiters, facts  the waiters, see line/in_turn
--       request  optional, string: as in lock/release
-- ARGV  owner    whose permits they are
--       count    number of permits that it acquired
--       keep_until  number of ms since the epoch, server time: the permits stay taken until then; 0: they may end now
--       channel  permits are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
--       way      first, again or undo: as in lock/release
--       silent   1 to announce nothing on the channel; the waiters in the line are told in any case
-- ->    {released, why}  why: the reason why waiters could not be told; '': they were told
--       {kept, rest}     the permits stay taken for this many ms
--       {not_ours}       the owner has none of them
--       CROWD, an error  more permits are taken than a script may read
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local announce = include('redis/announce')
local reclaim = include('permits/reclaim')
local taken_permits = include('permits/taken_permits')
local permits_of = include('permits/permits_of')
local forget_slots = include('permits/forget_slots')
local mend_slots = include('permits/mend_slots')
local in_pieces = include('redis/in_pieces')
local answered_before = include('hold/answered_before')
local leave_line = include('line/leave_line')
local tell_waiters = include('line/tell_waiters')

local function give_back()
  local kind_taken = taken_permits(taken)
  if kind_taken == 'crowd' then return redis.error_reply('CROWD') end
  local before = answered_before(request, way, memory)
  if before then return before end
  local kind = kind_of(pool)
  if kind ~= 'none' and kind ~= 'number' then return {'not_ours'} end
  if kind_taken == 'none' then redis.call('del', slots) end
  if kind_taken ~= 'zset' then return {'not_ours'} end
  -- This removes nothing; but behind a write that needs no memory Redis allows others, even if it has none left.
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
  if #ours + back > 0 and left and tonumber(left) > 0 and silent ~= '1' then why = announce(channel, left, sharded) end
  if #ours == 0 then return {'not_ours'} end
  if way == 'again' then redis.call('set', request, 1, 'px', memory) end
  return {'released', why}
end

local answer = give_back()
local released = answer[1] == 'released'
local done, left = answer[1] == 'not_ours', false
if done then done, left = pcall(leave_line, line, owner, -2) end
if not released and not (done and left) then return answer end
local why = tell_waiters(line, tonumber(redis.call('get', pool)) or 0)
return released and answer[2] == '' and {'released', why} or answer
