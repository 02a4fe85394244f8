-- Publishes `payload` on `channel`; with sharded == '1' also by sharded pub/sub, for listeners in a cluster. A script calls it
-- last. It never fails: it answers why the server did not publish, or ''.
-- line: optional (see line/in_turn); its `heard` becomes the number of clients that heard the payload
local function announce(channel, payload, sharded, line)
  if channel == '' then return '' end
  local heard = sharded == '1' and redis.pcall('spublish', channel, payload)
  local told = redis.pcall('publish', channel, payload)
  if line then line.heard = math.max(tonumber(heard) or 0, tonumber(told) or 0) end  -- no sum: rlock's waiters hear both
  return type(told) == 'table' and told.err or ''
end
return announce
