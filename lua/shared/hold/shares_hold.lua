-- Did the acquire with this id (32 digits) acquire the owner's present hold, alone or with others? grants: optional, see
-- note_grant. If the server does not know all acquires, the answer is true.
local function shares_hold(grants, id)
  local all = grants and redis.call('get', grants)
  return not all or all:find(id) or all:find('x')
end
return shares_hold
