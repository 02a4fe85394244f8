local lives_for = include('redis/lives_for')

-- Does the hold that `request` has acquired go on? If it does, the server remembers the request for at least `memory` ms from
-- now. Without a request the answer is true, because the caller has seen that the owner has the lock.
local function goes_on(request, memory)
  if not request then return true end
  local answer = redis.call('get', request)
  if not answer or answer == 'undone' then return false end
  lives_for(request, memory)
  return true
end
return goes_on
