-- Did the acquire with this id (32 digits) acquire the owner's present hold, alone or with others? claims: optional, see
-- take_over. If the server does not know all acquires, the answer is true.
local function shares_hold(claims, id)
  local all = claims and redis.call('get', claims)
  return not all or all:find(id) or all:find('x')
end
return shares_hold
