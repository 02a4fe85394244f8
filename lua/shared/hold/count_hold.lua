local only_inner_left = include('shares/only_inner_left')
local add_share = include('shares/add_share')

-- Counts an outer hold of an owner who has the lock (a hash owner -> holds), unless it had one before; and notes the request. A
-- second copy finds what the first has noted, so it counts nothing. Answers whether this call has added a hold.
-- had: the owner had the lock before this call; the others: as in lock/acquire
local function count_hold(lock, owner, request, shares, memory, had)
  local adds = not had or only_inner_left(shares)
  if had and adds then redis.call('hincrby', lock, owner, 1) end
  if request and adds then redis.call('set', request, 1, 'px', memory) end
  if shares then add_share(shares, request, memory, adds) end
  return adds
end
return count_hold
