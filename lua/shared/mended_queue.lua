local end_with_last_place = include('end_with_last_place')

-- Those of rlock's waiters who are alive: owner -> alive until; owner -> arrived, in microseconds. The dead leave the
-- queue, wherever they stand.
local function living_waiters(queue, deadlines, waiters, time)
  local alive_until, arrived = {}, {}
  local said = redis.call('hgetall', waiters)
  for i = 1, #said, 2 do
    local owner = said[i]
    local until_then, since = string.match(said[i + 1], '^(%d+) (%d+)$')
    if until_then and tonumber(until_then) > time then
      alive_until[owner], arrived[owner] = tonumber(until_then), tonumber(since)
    else
      redis.call('hdel', waiters, owner)
      redis.call('zrem', deadlines, owner)
      redis.call('lrem', queue, 0, owner)
    end
  end
  return alive_until, arrived
end

-- The members of the queue that can stay, in their order; owner -> deadline. A second place, a place without a deadline
-- and a deadline without a place are given up: Redisson's waiter queues again at its next try.
local function members_of(queue, deadlines, alive_until)
  local line, there, deadline_of = {}, {}, {}
  local scores = redis.call('zrange', deadlines, 0, -1, 'withscores')
  for i = 1, #scores, 2 do deadline_of[scores[i]] = tonumber(scores[i + 1]) end

  local all = redis.call('lrange', queue, 0, -1)
  for _, owner in ipairs(all) do
    if not there[owner] and (deadline_of[owner] or alive_until[owner]) then line[#line + 1] = owner end
    there[owner] = true
  end
  if #line < #all then
    redis.call('del', queue)
    for _, owner in ipairs(line) do redis.call('rpush', queue, owner) end
  end
  for owner in pairs(deadline_of) do
    if not there[owner] and not alive_until[owner] then redis.call('zrem', deadlines, owner) end
  end
  return line, deadline_of
end

-- The queue of a fair lock as it should be: whose time is over is dropped, and what disagrees is mended.
--
--   queue      list: owners in the order of their turns; Redisson's
--   deadlines  zset: owner -> forgotten after; Redisson's, which drops the head of the queue, and nobody else, when its
--              time is over. Both have the same members, or Redisson blocks for ever.
--   waiters    hash: owner -> "<alive until> <arrived>"; rlock's waiters alone, who say time and again that they live
--
-- When one of Redisson's waiters takes the lock or gives up, Redisson lets all behind it be forgotten earlier, by as
-- much as it had added when it queued: 5 minutes as a rule. So ours are forgotten
--     alive until + 5 minutes for each of Redisson's ahead of us,
-- which lies in the future when all of those have gone before us, and is the end of our own life when we are the head.
-- Whoever of ours is alive and missing was the head when Redisson dropped it, and becomes the head again.
--
-- `time` and deadlines are in ms since the epoch, by the server's clock. Answers a list of owners; owner -> deadline;
-- of ours, owner -> arrived. Or nothing, what type a key has that it should not have, and the key.
local function mended_queue(queue, deadlines, waiters, time)
  for key, wanted in pairs({ [queue] = 'list', [deadlines] = 'zset', [waiters] = 'hash' }) do
    local found = redis.call('type', key).ok
    if found ~= wanted and found ~= 'none' then return nil, found, key end
  end
  local alive_until, arrived = living_waiters(queue, deadlines, waiters, time)
  local line, deadline_of = members_of(queue, deadlines, alive_until)

  local there, lost = {}, {}
  for _, owner in ipairs(line) do there[owner] = true end
  for owner in pairs(alive_until) do
    if not there[owner] then lost[#lost + 1] = owner end
  end
  table.sort(lost, function(a, b) return arrived[a] > arrived[b] end)
  for _, owner in ipairs(lost) do
    redis.call('lpush', queue, owner)
    table.insert(line, 1, owner)
  end

  while line[1] and not alive_until[line[1]] and deadline_of[line[1]] <= time do
    redis.call('zrem', deadlines, line[1])
    redis.call('lpop', queue)
    table.remove(line, 1)
  end

  local theirs_ahead = 0
  for _, owner in ipairs(line) do
    if alive_until[owner] then
      local due = alive_until[owner] + theirs_ahead * 300000
      if due ~= deadline_of[owner] then redis.call('zadd', deadlines, string.format('%.0f', due), owner) end
      deadline_of[owner] = due
    else
      theirs_ahead = theirs_ahead + 1
    end
  end
  end_with_last_place(queue, deadlines, time)
  return line, deadline_of, arrived
end
return mended_queue
