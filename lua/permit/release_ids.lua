-- Release permits by their ids, no matter who acquired them, and wake up the waiters. If an id is not taken, the answer says
-- so, and the others are released nevertheless.
-- This call may be sent twice: the server remembers the request, and the second copy gets the same answer.
--
-- KEYS  pool     string: the number of permits that are available
--       request  string: the answer to this request, a digit for each id
--       taken    zset: id (16 bytes) -> end of its lease, in ms since the epoch
--       slots    zset: see permits/mend_slots
--       line: order, waiters, facts  the waiters, see line/in_turn
-- ARGV  channel  permits are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
--       ids...   16 bytes each
-- ->    {why, 1 or 0, ...}  for each id: 1 if it was released, 0 if it was not taken. why: the reason why waiters could not be
--                           told; '': they were told, or there was nothing to tell
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local announce = include('redis/announce')
local first_reason = include('redis/first_reason')
local tell_waiters = include('line/tell_waiters')
local reclaim = include('permits/reclaim')
local taken_permits = include('permits/taken_permits')
local forget_slots = include('permits/forget_slots')
local slot_in = include('permits/slot_in')

local answer = {''}
for done in string.gmatch(redis.call('get', request) or '', '%d') do answer[#answer + 1] = tonumber(done) end
if answer[2] then return answer end
local kind = kind_of(pool)
local there = kind == 'number'
local kind_taken = taken_permits(taken)
local readable = (there or kind == 'none') and (kind_taken == 'zset' or kind_taken == 'too_many')
redis.call('del', request)  -- first: it needs no memory
redis.call('set', request, '', 'xx')  -- sets nothing; a client without this right fails before it loses a permit
if there then redis.call('incrby', pool, 0) end  -- the same
local back = there and kind_taken == 'zset' and reclaim(pool, taken, slots, now()) or 0
local gone = {}
for i, id in ipairs(ids) do
  answer[i + 1] = 0
  if readable and redis.call('zrem', taken, id) == 1 then
    if there then redis.call('incrby', pool, 1) end
    answer[i + 1] = 1
    back = back + 1
    local _, tail = slot_in(id)
    gone[#gone + 1] = tail
  end
end
local digits = table.concat(answer)
if digits:find('1') then redis.call('set', request, digits, 'px', memory) end
if readable then forget_slots(taken, slots, gone) end
local left = back > 0 and redis.call('get', pool)
if left and tonumber(left) > 0 then
  local why = announce(channel, left, sharded)
  answer[1] = first_reason(why, tell_waiters(line, tonumber(left)))
end
return answer
