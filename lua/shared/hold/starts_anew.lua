-- After an acquire of an owner whose holds are not counted: the inner holds of earlier holds do not count any more, and an outer
-- hold that was released before its inner holds is there again. had: the owner had the lock before. inner: see hold/outlived
-- -> whether this acquire began an outer hold
local function starts_anew(inner, request, had)
  if not had then
    if inner then redis.call('del', inner) end
    return true
  end
  -- A copy of the call changes nothing. Without a request the owner acquires the lock only once.
  if not inner or not request or redis.call('get', request) then return false end
  return redis.call('zrem', inner, 'over') == 1
end
return starts_anew
