-- Takes the acquire of `request` out of the grants, because what it acquired is released or undone. Answers whether other
-- acquires share the owner's hold: then the hold goes on; whether this one did; and whether the lock was kept before.
-- grants: optional, see note_grant. request: see shares_hold
local function drop_grant(grants, request, memory)
  local all = grants and redis.call('get', grants)
  if not all then return end
  local acquire = request:gsub(':released$', '')
  local left, found = all:gsub(acquire:match('[^:]*$'), '')
  if found > 0 then
    local lives = math.max(redis.call('pttl', grants), memory, 3600000)
    redis.call('pexpire', grants, lives)  -- first: it needs no memory
    redis.call('set', grants, left, 'px', lives)
    redis.call('set', acquire, 'undone', 'px', memory)  -- a late copy of the acquire must not share the hold again
  end
  return left:find('[^ ]'), found > 0, left:find(' ')
end
return drop_grant
