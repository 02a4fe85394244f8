-- Writes a field of what the line knows: the hash ends with the line, also where it was lost meanwhile and this makes
-- it anew. queue: see in_turn
local function note(queue, field, text)
  local lost = redis.call('pttl', queue.waiters) < 0
  local stays = lost and math.max(redis.call('pttl', queue.line), 1000)
  if lost then redis.call('pexpire', queue.waiters, stays) end  -- first: who may not do this leaves nothing without a TTL
  redis.call('hset', queue.waiters, field, text)
  if lost then redis.call('pexpire', queue.waiters, stays) end
end
return note
