local lives_for = include('redis/lives_for')
local shares_hold = include('hold/shares_hold')

-- Does the hold that `request` has acquired go on? If it does, the server remembers the request for at least `memory` ms from
-- now. Without a request the answer is true, because the caller has seen that the owner has the lock.
-- grants: of an outer hold whose owner may return, see shares_hold; the server remembers these instead
local function goes_on(request, memory, grants)
  if not request then return true end
  if grants then
    lives_for(grants, memory)
    return shares_hold(grants, request)
  end
  local answer = redis.call('get', request)
  if not answer or answer == 'undone' then return false end
  lives_for(request, memory)
  return true
end
return goes_on
