-- Has the owner only inner holds left? Then all acquires of its outer hold have released it, and an acquire adds an outer hold.
-- shares: optional, see read_shares. If the acquires have released the hold, it is an empty string
local function only_inner_left(shares)
  return shares and redis.call('get', shares) == ''
end
return only_inner_left
