local acquire_of = include('shares/acquire_of')
local read_shares = include('shares/read_shares')

-- Does the acquire of `request` share its owner's present hold? If the server does not know all that do, the answer is true.
-- shares: optional, see read_shares
local function has_share(shares, request)
  local _, more, ids = read_shares(shares)
  local _, id = acquire_of(request)
  return not ids or more ~= '' or ids:find(id)
end
return has_share
