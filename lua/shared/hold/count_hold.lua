local only_inner_left = include('shares/only_inner_left')
local add_share = include('shares/add_share')

-- Counts an outer hold of an owner who has the lock (a hash owner -> holds), unless the owner had one before. Notes the request.
-- A second copy finds what the first has noted, so it counts nothing. Answers whether this call has added a hold.
-- hold: see hold/take_lock; its lease is not used. had: the owner had the lock before this call
local function count_hold(hold, had)
  local adds = not had or only_inner_left(hold.shares)
  if had and adds then redis.call('hincrby', hold.lock, hold.owner, 1) end
  if hold.request and adds then redis.call('set', hold.request, 1, 'px', hold.memory) end
  if hold.shares then add_share(hold.shares, hold.request, hold.memory, adds) end
  return adds
end
return count_hold
