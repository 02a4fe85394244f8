-- Writes a field of the line's notes. Their hash ends with the line, also if it was lost and this function makes it again.
-- line: see in_turn
local function write_note(line, field, text)
  local lost = redis.call('pttl', line.waiters) < 0
  local stays = lost and math.max(redis.call('pttl', line.order), 1000)
  if lost then redis.call('pexpire', line.waiters, stays) end  -- first: a client that may not do this leaves no key without a TTL
  redis.call('hset', line.waiters, field, text)
  if lost then redis.call('pexpire', line.waiters, stays) end
end
return write_note
