local lives_for = include('redis/lives_for')
local has_share = include('shares/has_share')

-- Does the hold that `request` has acquired go on? If it does, the server remembers the request for at least `memory` ms from
-- now. Without a request the answer is true, because the caller has seen that the owner has the lock.
-- shares: of an outer hold whose owner may return, see shares/read_shares; the server remembers these instead
local function still_held(request, memory, shares)
  if not request then return true end
  if shares then
    lives_for(shares, memory)
    return has_share(shares, request)
  end
  local answer = redis.call('get', request)
  if not answer or answer == 'undone' then return false end
  lives_for(request, memory)
  return true
end
return still_held
