local note_grant = include('hold/note_grant')
local outer_is_over = include('hold/outer_is_over')

-- Counts an outer hold of an owner who has the lock (a hash owner -> holds), unless it had one before; and notes the request. A
-- second copy finds what the first has noted, so it counts nothing. Answers whether this call has added a hold.
-- had: the owner had the lock before this call; the others: as in lock/acquire
local function count_hold(lock, owner, request, grants, memory, had)
  local adds = not had or outer_is_over(grants)
  if had and adds then redis.call('hincrby', lock, owner, 1) end
  if request and adds then redis.call('set', request, 1, 'px', memory) end
  if grants then note_grant(grants, request, memory, adds) end
  return adds
end
return count_hold
