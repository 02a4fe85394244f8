local now = include('now')
local announce = include('announce')

-- Wakes the head of a fair queue, if there is one: members whose time is over by the server's clock are dropped first,
-- as Redisson's unlock does. queue: list of owners; patience: zset owner -> forgotten after (ms since the epoch).
-- Answers as announce() does.
local function announce_to_head(queue, patience, channel, sharded)
  if redis.call('type', queue).ok ~= 'list' then return '' end
  if redis.call('type', patience).ok ~= 'zset' then return '' end
  local time = now()
  local head = redis.call('lindex', queue, 0)
  while head do
    local score = redis.call('zscore', patience, head)
    if not score or tonumber(score) > time then break end
    redis.call('zrem', patience, head)
    redis.call('lpop', queue)
    head = redis.call('lindex', queue, 0)
  end
  if not head or channel == '' then return '' end
  return announce(channel .. ':' .. head, '0', sharded)
end
return announce_to_head
