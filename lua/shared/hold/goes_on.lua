local lives_for = include('redis/lives_for')

-- Does the hold go on that `request` has acquired? Then the server remembers the request for `memory` ms more, at least.
-- Without a request the owner has no other hold, so the answer is true.
local function goes_on(request, memory)
  if not request then return true end
  local answer = redis.call('get', request)
  if not answer or answer == 'undone' then return false end
  lives_for(request, memory)
  return true
end
return goes_on
