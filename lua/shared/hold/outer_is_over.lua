-- Has the owner only inner holds left, because the last acquire that shared its outer hold has released it? Then the release has
-- emptied the grants, and an acquire adds an outer hold.
-- grants: optional, see note_grant
local function outer_is_over(grants)
  return grants and redis.call('get', grants) == ''
end
return outer_is_over
