-- Did the acquire of `request` acquire the owner's present hold, alone or with others? If the server does not know all acquires,
-- the answer is true. grants: optional, see note_grant
-- request: the key of the acquire, or of its release, which has ':released' behind it
local function shares_hold(grants, request)
  local all = grants and redis.call('get', grants)
  return not all or all:find(request:gsub(':released$', ''):match('[^:]*$')) or all:find('x')
end
return shares_hold
