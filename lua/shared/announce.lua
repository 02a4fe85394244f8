-- Wakes whoever listens to `channel` ('': nobody), and with sharded == '1' also the listeners of a cluster's
-- sharded pub/sub. Comes last in a script and never fails: answers why nobody could be told, or ''.
local function announce(channel, payload, sharded)
  if channel == '' then return '' end
  if sharded == '1' then redis.pcall('spublish', channel, payload) end
  local told = redis.pcall('publish', channel, payload)
  return type(told) == 'table' and told.err or ''
end
return announce
