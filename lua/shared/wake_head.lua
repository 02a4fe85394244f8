-- Wakes the head of the `line` (see mended_queue for it and what follows it), unless that is `asker`, who is awake.
-- Where one of rlock's is the head and nobody hears, it was killed, or its connection broke: it has two seconds to ask
-- again, and the next is woken to take its place after that. (A cluster counts only who listens at the same node, so
-- there the whole of its life is awaited.) Answers why nobody could be told, or ''.
local function wake_head(line, deadline_of, arrived, deadlines, waiters, time, channel, sharded, asker)
  for _, owner in ipairs(line) do
    if owner == asker then return '' end
    if sharded == '1' then redis.pcall('spublish', channel .. ':' .. owner, '0') end
    local told = redis.pcall('publish', channel .. ':' .. owner, '0')
    if type(told) == 'table' then return told.err end
    if told > 0 or sharded == '1' or not arrived[owner] then return '' end

    local until_then = math.min(deadline_of[owner], time + 2000)
    if until_then < deadline_of[owner] then
      redis.call('hset', waiters, owner, string.format('%.0f %.0f', until_then, arrived[owner]))
      redis.call('zadd', deadlines, string.format('%.0f', until_then), owner)
      deadline_of[owner] = until_then
    end
  end
  return ''
end
return wake_head
