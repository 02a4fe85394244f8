-- Wakes whoever listens to `channel` ('': nobody), and with sharded == '1' also the listeners of a cluster's
-- sharded pub/sub. Comes last in a script and never fails: answers why nobody could be told, or ''.
-- queue: optional (see in_turn); gets to know how many heard it
local function announce(channel, payload, sharded, queue)
  if channel == '' then return '' end
  local heard = sharded == '1' and redis.pcall('spublish', channel, payload)
  local told = redis.pcall('publish', channel, payload)
  if queue then queue.heard = (tonumber(heard) or 0) + (tonumber(told) or 0) end
  return type(told) == 'table' and told.err or ''
end
return announce
