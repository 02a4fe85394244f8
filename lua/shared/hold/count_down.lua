local kept_or_held = include('hold/kept_or_held')
local rest_to_keep = include('hold/rest_to_keep')

-- Releases one of several holds of an owner in a lock that counts them. The others keep the lock for `lease` ms at least.
-- hold: see hold/answered_before. timeout: of a read hold, see read/acquire
local function count_down(lock, hold, lease, timeout)
  redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))  -- first: it needs no memory
  if timeout and redis.call('pttl', timeout) < lease then redis.call('set', timeout, 1, 'px', lease) end
  local rest = rest_to_keep(hold, true)
  if hold.way ~= 'undo' then redis.call('set', hold.request, 0, 'px', hold.memory) end
  redis.call('hincrby', lock, hold.entry, -1)
  return kept_or_held(rest)
end
return count_down
