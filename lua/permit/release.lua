-- Release one hold. If it was the owner's last one, release its permits and wake up the waiters.
-- This call may be sent twice, and late: the second copy finds no permits of this owner. If the owner may acquire permits
-- again (way: again), the server remembers the request, so a late copy does not release the new ones.
--
-- KEYS  pool     string: the number of permits that are available
--       taken    zset: id (16 bytes) -> end of its lease, in ms since the epoch, server time
--       slots    zset: see permits/mend_slots
--       line: order, waiters, facts  the waiters, see line/in_turn
--       inner    optional, zset: the inner holds of this owner, see hold/release_inner
--       request  optional, string: as in lock/release
--       keep     optional, string: as in lock/release
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    whose permits they are
--       count    number of permits that it acquired
--       keep_until  number of ms since the epoch, server time: the permits stay taken until then; 0: they may end now
--       channel  permits are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
--       way      first, again or undo: as in lock/release
--       inside   1: it is an inner hold, which `request` has acquired
--       silent   1 to announce nothing on the channel; the waiters in the line are told in any case
-- ->    {released, why}  why: the reason why waiters could not be told; '': they were told
--       {still_held}     another hold of this owner remains, or other acquires share this one (see shares/drop_share)
--       {kept, rest}     the permits stay taken for this many ms, and for as long as another hold of this owner remains
--       {not_ours}       the owner has none of them
--       {not_ours, ''}   the hold has ended, and its owner has acquired permits anew; a place in the line stays
--       TOOMANY, an error  more permits are taken than a script may read
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local announce = include('redis/announce')
local first_reason = include('redis/first_reason')
local reclaim = include('permits/reclaim')
local taken_permits = include('permits/taken_permits')
local permits_of = include('permits/permits_of')
local forget_slots = include('permits/forget_slots')
local mend_slots = include('permits/mend_slots')
local in_pieces = include('redis/in_pieces')
local answered_before = include('hold/answered_before')
local remember = include('hold/remember')
local release_inner = include('hold/release_inner')
local rest_to_keep = include('hold/rest_to_keep')
local keep_for = include('hold/keep_for')
local kept_or_held = include('hold/kept_or_held')
local drop_share = include('shares/drop_share')
local leave_line = include('line/leave_line')
local tell_waiters = include('line/tell_waiters')

-- The answer, and how many permits have come back: ours, and those whose lease has ended.
local function release_hold()
  local kind_taken = taken_permits(taken)
  if kind_taken == 'too_many' then return redis.error_reply('TOOMANY') end
  local hold = {entry = owner, fields('owner, request, shares, keep, keep_until, way, memory')}
  local before = answered_before(hold)
  if before then return before end
  local kind = kind_of(pool)
  if kind ~= 'none' and kind ~= 'number' then return {'not_ours'} end
  if kind_taken == 'none' then redis.call('del', slots) end
  if kind_taken ~= 'zset' then return {'not_ours'} end
  redis.call('zrem', taken, '')  -- first: it needs no memory, and removes nothing
  local time = now()
  local there = kind == 'number'
  local back = there and reclaim(pool, taken, slots, time) or 0
  local function find_ours(most)
    local ours, found, tails = {}, permits_of(owner, most, taken, slots)
    for i = 1, most do ours[#ours + 1] = found[i] end
    return ours, tails
  end
  local ours, tails = find_ours(count)

  local goes_on, in_all
  if #ours > 0 then
    goes_on = drop_share(shares, request, memory)
    if not goes_on then goes_on, in_all = release_inner(inner, inside == '1' and request or nil, count, time) end
    if not goes_on and in_all ~= tonumber(count) then ours, tails = find_ours(in_all) end
  end
  local rest = rest_to_keep(hold, goes_on)
  if goes_on then
    remember(hold, 0)
    return kept_or_held(rest), back
  end
  if rest > 0 and #ours > 0 then
    for _, id in ipairs(ours) do redis.call('zadd', taken, time + rest, id) end
    mend_slots(taken, slots, rest)
    return keep_for(hold, rest), back
  end

  if there then redis.call('incrby', pool, #ours) end
  in_pieces('zrem', taken, ours)
  forget_slots(taken, slots, tails)
  if #ours == 0 then return {'not_ours'}, back end
  remember(hold, 1)
  return {'released'}, #ours + back
end

local answer, back = release_hold()
back = back or 0
local done, left_line = answer[1] == 'not_ours' and not answer[2], false
if done then done, left_line = pcall(leave_line, line, owner, -2) end
if back == 0 and not (done and left_line) then return answer end
local left, why = tonumber(redis.call('get', pool)) or 0, ''
-- `line` is not passed: holders that have waited may still listen, so the number of listeners does not show other clients.
if back > 0 and left > 0 and silent ~= '1' then why = announce(channel, left, sharded) end
local why_not_first = tell_waiters(line, left)
if answer[1] == 'released' then answer[2] = first_reason(why, why_not_first) end
return answer
