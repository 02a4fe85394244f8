local tell_owner = include('line/tell_owner')

-- Wakes up the head of a queue, unless that is `asker`, which is awake. If a waiter of rlock does not hear the message, it was
-- killed, or its connection broke. It has two seconds to ask again. The next waiter is woken up, too, and gets its turn after
-- that. The function tells at most a hundred waiters, because otherwise a crowd that was killed would keep the server busy. The
-- waiters behind them ask by themselves. Answers why the head could not be told, or ''. queue: see mended_queue
local function wake_head(queue, time, asker)
  for _, owner in ipairs(redis.call('lrange', queue.order, 0, 99)) do
    if owner == asker then return '' end
    local heard, why = tell_owner(queue, owner, '0')
    if why then return why end
    local since = (redis.call('hget', queue.alive, owner) or ''):match('^%d+ (%d+)$')
    if heard > 0 or not since then return '' end

    local until_then = string.format('%.0f', time + 2000)
    if tonumber(redis.call('zscore', queue.deadlines, owner)) > time + 2000 then
      redis.call('hset', queue.alive, owner, until_then .. ' ' .. since)
      redis.call('zadd', queue.deadlines, until_then, owner)
    end
  end
  return ''
end
return wake_head
