local tell_owner = include('tell_owner')

-- Wakes the head of a queue (see mended_queue for its keys), unless that is `asker`, who is awake.
-- Where one of rlock's is the head and nobody hears, it was killed, or its connection broke: it has two
-- seconds to ask again, and the next is woken to take its place after that. Goes no further than the first
-- hundred, or killing many would keep the server busy: those behind them ask by themselves. Answers why
-- nobody could be told, or ''.
local function wake_head(queue, deadlines, waiters, time, channel, sharded, asker)
  for _, owner in ipairs(redis.call('lrange', queue, 0, 99)) do
    if owner == asker then return '' end
    local heard, why = tell_owner({channel = channel, sharded = sharded}, owner, '0')
    if why then return why end
    local since = string.match(redis.call('hget', waiters, owner) or '', '^%d+ (%d+)$')
    if heard > 0 or not since then return '' end

    local until_then = string.format('%.0f', time + 2000)
    if tonumber(redis.call('zscore', deadlines, owner)) > time + 2000 then
      redis.call('hset', waiters, owner, until_then .. ' ' .. since)
      redis.call('zadd', deadlines, until_then, owner)
    end
  end
  return ''
end
return wake_head
