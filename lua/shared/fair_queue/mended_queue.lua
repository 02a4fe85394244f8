local end_with_last_place = include('fair_queue/end_with_last_place')
local look_through = include('redis/look_through')
local in_pieces = include('redis/in_pieces')

-- Answers three values:
--   rlock's waiters that are alive, owner -> alive until
--   the whole hash, in any order
--   the owners that are dead
local function living_waiters(queue, time)
  local alive_until, dead = {}, {}
  local said = redis.call('hgetall', queue.alive)
  for i = 1, #said, 2 do
    local life = said[i + 1]
    local until_then = life:find('^%d+ %d+$') and tonumber(life:match('^%d+'))
    if until_then and until_then > time then
      alive_until[said[i]] = until_then
    else
      dead[#dead + 1] = said[i]
    end
  end
  return alive_until, said, dead
end

-- The waiters that are alive and not `there`, in the order of their arrival.
local function missing_waiters(alive_until, said, there)
  local times, came_at, also_then = {}, {}, {}
  for i = 1, #said, 2 do
    local owner = said[i]
    if alive_until[owner] and not there[owner] then
      local since = tonumber(said[i + 1]:match(' (%d+)$'))
      times[#times + 1], came_at[since], also_then[owner] = since, owner, came_at[since]
    end
  end
  table.sort(times)  -- sorts numbers: with a function that compares owners it takes ten times as long
  local owners = {}
  for i, since in ipairs(times) do owners[i], came_at[since] = came_at[since], also_then[came_at[since]] end
  return owners
end

-- {[member] = true}
local function set_of(members)
  local set = {}
  for i = 1, #members do set[members[i]] = true end
  return set
end

-- Reads all keys once and mends them. Answers three values:
--   the queue, as a list of owners
--   rlock's waiters that are alive, owner -> alive until
--   whether the queue has another head than before
local function mend(queue, time)
  local alive_until, said, dead = living_waiters(queue, time)
  local has_deadline = set_of(redis.call('zrange', queue.deadlines, 0, -1))
  local has_ended = set_of(redis.call('zrangebyscore', queue.deadlines, '-inf', time))
  local gone = {}
  for i = 1, #dead do gone[i], has_deadline[dead[i]] = dead[i], nil end

  local there, stay = {}, {}
  local before = redis.call('lrange', queue.order, 0, -1)
  for i = 1, #before do
    local owner = before[i]
    if not there[owner] and (has_deadline[owner] or alive_until[owner]) then stay[#stay + 1] = owner end
    there[owner] = true
  end
  for owner in pairs(has_deadline) do
    if not there[owner] and not alive_until[owner] then gone[#gone + 1] = owner end
  end

  local line = missing_waiters(alive_until, said, there)
  for i = 1, #stay do
    local owner = stay[i]
    if line[1] or alive_until[owner] or not has_ended[owner] then
      line[#line + 1] = owner
    else
      gone[#gone + 1] = owner  -- it would be the head, and its time is over
    end
  end

  -- A waiter of rlock sets its deadline each time that it asks. If this function drops a waiter of Redisson ahead of it, that
  -- deadline is too late by queue.theirs. If the waiter died now, it would stay for so long. So the function sets the deadline
  -- anew.
  local moved = #line ~= #before
  for i = 1, #line do moved = moved or line[i] ~= before[i] end
  local added, due = 0, {}
  for i = 1, #line do
    local owner = line[i]
    if not alive_until[owner] then
      added = added + (queue.theirs or 300000)
    elseif moved or has_ended[owner] or not has_deadline[owner] then
      due[#due + 1], due[#due + 2] = alive_until[owner] + added, owner
    end
  end

  in_pieces('hdel', queue.alive, dead)
  in_pieces('zrem', queue.deadlines, gone)
  if moved then
    redis.call('del', queue.order)
    in_pieces('rpush', queue.order, line)
  end
  in_pieces('zadd', queue.deadlines, due)
  return line, alive_until, line[1] ~= before[1]
end

-- The place of `owner`, as mended_queue() answers it, if there is nothing to mend; else nil. There is nothing to mend if all
-- waiters are rlock's, and none has died or is missing. (If Redisson dropped a waiter of rlock, and one of Redisson's is there in
-- its place, this function does not notice. The missing waiter is noticed when it asks the next time, or when the other one is
-- the head.)
local function place_in_order(queue, time, owner)
  local length = redis.call('llen', queue.order)
  if redis.call('hlen', queue.alive) ~= length or redis.call('zcard', queue.deadlines) ~= length then return end
  if redis.call('zcount', queue.deadlines, '-inf', time) > 0 then return end
  local head = redis.call('lindex', queue.order, 0)
  if head and redis.call('hexists', queue.alive, head) == 0 then return end
  local place = { head = head, length = length, position = 0, theirs_ahead = 0 }
  local said = redis.call('hget', queue.alive, owner)
  if not said then return not redis.call('zscore', queue.deadlines, owner) and place or nil end
  local before = redis.pcall('lpos', queue.order, owner)  -- fails before Redis 6.0.6
  place.since = tonumber(said:match('^%d+ (%d+)$'))
  if type(before) ~= 'number' or not place.since then return end
  place.position = before + 1
  return place
end

-- Mends the queue of a fair lock: drops the waiters whose time is over, and makes the three keys agree.
--
--   queue.order      list: owners in the order of their turns; Redisson's
--   queue.deadlines  zset: owner -> forgotten after; Redisson's. Redisson drops the head of the queue, and no other waiter,
--                    when its time is over. Both keys must have the same members, or Redisson blocks for ever.
--   queue.alive      hash: owner -> "<alive until> <arrived>"; only rlock's waiters, which say again and again that they are
--                alive
--   queue.theirs     the fairLockWaitTimeout of Redisson's waiters in ms; nil: its default, 5 minutes
--   queue.channel, queue.sharded  each waiter listens on <channel>:<owner>; sharded: as in lock/acquire
--
-- If one of Redisson's waiters acquires the lock or gives up, Redisson lowers the deadlines of all waiters behind it by its
-- fairLockWaitTimeout. So the deadline of a waiter of rlock is
--     alive until + queue.theirs for each of Redisson's waiters ahead.
-- When all of those have gone, this is `alive until`, which lies in the future.
-- If a waiter of rlock is alive and missing, it was the head when Redisson dropped it, and becomes the head again. A second
-- place of an owner is dropped. So is a place without a deadline, or a deadline without a place, unless it belongs to a living
-- waiter of rlock. If a waiter of Redisson is dropped, it queues again at its next try.
--
-- `time` and deadlines are in ms since the epoch, by the server's clock. Answers the place of `owner`:
--   position      0: it has none
--   length        of the queue
--   head          an owner, or false
--   moved         the head has just changed
--   theirs_ahead  the number of Redisson's waiters ahead of us, or of the end
--   since         our arrival in microseconds, if we wait
--
-- If a key has another type, or too many items, the function answers nil, what look_through() says of the key, and the key.
local function mended_queue(queue, time, owner)
  local most = 5500  -- fair/acquire stops at 5000 waiters, but Redisson's clients do not: a few more must do no harm
  for key, wanted in pairs({ [queue.order] = 'list', [queue.deadlines] = 'zset', [queue.alive] = 'hash' }) do
    local found = look_through(key, most)
    if found ~= wanted and found ~= 'none' then return nil, found, key end
  end
  local place = place_in_order(queue, time, owner)
  if place then return place end

  local line, alive_until, moved = mend(queue, time)
  local position, theirs_ahead = 0, 0
  for i = 1, #line do
    if line[i] == owner then
      position = i
      break
    end
    if not alive_until[line[i]] then theirs_ahead = theirs_ahead + 1 end
  end
  end_with_last_place(queue, time)
  local said = alive_until[owner] and redis.call('hget', queue.alive, owner)
  return {
    head = line[1] or false, moved = moved, length = #line, position = position, theirs_ahead = theirs_ahead,
    since = said and tonumber(said:match(' (%d+)$')),
  }
end
return mended_queue
