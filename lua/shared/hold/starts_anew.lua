-- Brings `inner` up to date (see hold/release_inner) after an acquire of a lock that does not count holds. Answers whether this
-- acquire began an outer hold. `had` says whether the owner had the lock before. If it had not, inner holds in `inner` are of
-- earlier holds, and go. If only inner holds had the lock, the mark `over` goes: the owner has an outer hold again.
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
