-- Takes the acquire of `request` out of the grants, because what it acquired is released or undone. Answers whether other
-- acquires share the owner's hold: then the hold goes on. Acquires that the server does not know do not count.
-- grants: optional, see note_grant. request: see shares_hold
local function drop_grant(grants, request, memory)
  local all = grants and redis.call('get', grants)
  if not all then return false end
  local acquire = request:gsub(':released$', '')
  local left = all:gsub(acquire:match('[^:]*$'), '')
  if #left < 32 then return false end
  if left ~= all then
    local lives = math.max(redis.call('pttl', grants), memory)
    redis.call('pexpire', grants, lives)  -- first: it needs no memory
    redis.call('set', grants, left, 'px', lives)
    redis.call('set', acquire, 'undone', 'px', memory)  -- a late copy of the acquire must not note it again
  end
  return true
end
return drop_grant
