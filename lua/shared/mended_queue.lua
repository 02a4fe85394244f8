local end_with_last_place = include('end_with_last_place')
local look_through = include('look_through')
local in_pieces = include('in_pieces')

-- Those of rlock's waiters who are alive: owner -> alive until; what is said of each, in any order; the names
-- of the dead.
local function living_waiters(waiters, time)
  local alive_until, dead = {}, {}
  local said = redis.call('hgetall', waiters)
  for i = 1, #said, 2 do
    local life = said[i + 1]
    local until_then = string.find(life, '^%d+ %d+$') and tonumber(string.match(life, '^%d+'))
    if until_then and until_then > time then
      alive_until[said[i]] = until_then
    else
      dead[#dead + 1] = said[i]
    end
  end
  return alive_until, said, dead
end

-- Those who live and are not `there`; who came first is first.
local function missing_waiters(alive_until, said, there)
  local times, came_at, also_then = {}, {}, {}
  for i = 1, #said, 2 do
    local owner = said[i]
    if alive_until[owner] and not there[owner] then
      local since = tonumber(string.match(said[i + 1], ' (%d+)$'))
      times[#times + 1], came_at[since], also_then[owner] = since, owner, came_at[since]
    end
  end
  table.sort(times)  -- numbers: to compare owners by a function takes ten times as long
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

-- Reads all that there is once, mends it, and answers the queue as a list of owners; of ours, owner -> alive
-- until; whether it has another head than before.
local function mend(queue, deadlines, waiters, time)
  local alive_until, said, dead = living_waiters(waiters, time)
  local has_deadline = set_of(redis.call('zrange', deadlines, 0, -1))
  local has_ended = set_of(redis.call('zrangebyscore', deadlines, '-inf', time))
  local gone = {}
  for i = 1, #dead do gone[i], has_deadline[dead[i]] = dead[i], nil end

  local there, stay = {}, {}
  local before = redis.call('lrange', queue, 0, -1)
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

  -- Ours say themselves when they are forgotten, each time that they ask. But when one of Redisson's goes by
  -- our hand, all of ours behind it have less to wait for, and whoever dies now must not stay for the 5
  -- minutes of that one.
  local moved = #line ~= #before
  for i = 1, #line do moved = moved or line[i] ~= before[i] end
  local added, due = 0, {}
  for i = 1, #line do
    local owner = line[i]
    if not alive_until[owner] then
      added = added + 300000
    elseif moved or has_ended[owner] or not has_deadline[owner] then
      due[#due + 1], due[#due + 2] = alive_until[owner] + added, owner
    end
  end

  in_pieces('hdel', waiters, dead)
  in_pieces('zrem', deadlines, gone)
  if moved then
    redis.call('del', queue)
    in_pieces('rpush', queue, line)
  end
  in_pieces('zadd', deadlines, due)
  return line, alive_until, line[1] ~= before[1]
end

-- The place of `owner` as mended_queue() answers it, where there is nothing to mend: only rlock's wait,
-- nobody has died, nobody is missing. Else nothing. (Of ours one that Redisson dropped is not seen while one
-- of Redisson's is there for it. It is when it asks the next time, or that one is the head.)
local function place_in_order(queue, deadlines, waiters, time, owner)
  local length = redis.call('llen', queue)
  if redis.call('hlen', waiters) ~= length or redis.call('zcard', deadlines) ~= length then return end
  if redis.call('zcount', deadlines, '-inf', time) > 0 then return end
  local head = redis.call('lindex', queue, 0)
  if head and redis.call('hexists', waiters, head) == 0 then return end
  local place = { head = head, length = length, position = 0, theirs_ahead = 0 }
  local said = redis.call('hget', waiters, owner)
  if not said then return not redis.call('zscore', deadlines, owner) and place or nil end
  local before = redis.pcall('lpos', queue, owner)  -- not before Redis 6.0.6
  place.since = tonumber(string.match(said, '^%d+ (%d+)$'))
  if type(before) ~= 'number' or not place.since then return end
  place.position = before + 1
  return place
end

-- The queue of a fair lock is made as it should be: whose time is over is dropped, and what disagrees is
-- mended.
--
--   queue      list: owners in the order of their turns; Redisson's
--   deadlines  zset: owner -> forgotten after; Redisson's, which drops the head of the queue, and nobody
--              else, when its time is over. Both have the same members, or Redisson blocks for ever.
--   waiters    hash: owner -> "<alive until> <arrived>"; rlock's waiters alone, who say time and again that
--              they live
--
-- When one of Redisson's waiters takes the lock or gives up, Redisson lets all behind it be forgotten
-- earlier, by as much as it had added when it queued: 5 minutes as a rule. So ours are forgotten
--     alive until + 5 minutes for each of Redisson's ahead of us,
-- which lies in the future when all of those have gone before us, and is the end of our own life when we are
-- the head.
-- Whoever of ours is alive and missing was the head when Redisson dropped it, and becomes the head again. A
-- second place, a place without a deadline and a deadline without a place are given up: Redisson's waiter
-- queues again at its next try.
--
-- `time` and deadlines are in ms since the epoch, by the server's clock. Answers the place of `owner`: position
-- (0: none), length (of the queue), head (an owner, or false), moved (it has become that just now),
-- theirs_ahead (of Redisson's, ahead of us or of the end), since (our arrival in microseconds, where we wait).
-- Or nothing, what a key has that it should not have, and the key.
local function mended_queue(queue, deadlines, waiters, time, owner)
  for key, wanted in pairs({ [queue] = 'list', [deadlines] = 'zset', [waiters] = 'hash' }) do
    local found = look_through(key, 5500)
    if found ~= wanted and found ~= 'none' then return nil, found, key end
  end
  local place = place_in_order(queue, deadlines, waiters, time, owner)
  if place then return place end

  local line, alive_until, moved = mend(queue, deadlines, waiters, time)
  local position, theirs_ahead = 0, 0
  for i = 1, #line do
    if line[i] == owner then
      position = i
      break
    end
    if not alive_until[line[i]] then theirs_ahead = theirs_ahead + 1 end
  end
  end_with_last_place(queue, deadlines, waiters, time)
  local said = alive_until[owner] and redis.call('hget', waiters, owner)
  return {
    head = line[1] or false, moved = moved, length = #line, position = position, theirs_ahead = theirs_ahead,
    since = said and tonumber(string.match(said, ' (%d+)$')),
  }
end
return mended_queue
