local write_grants = include('hold/write_grants')

-- Takes the acquire of `request` out of the grants, because what it acquired is released or undone. Answers whether other
-- acquires share the owner's hold: then the hold goes on; and, if this one did, what is left of the grants: '' if nothing else
-- holds or keeps the lock.
-- grants: optional, see note_grant. request: see shares_hold
local function drop_grant(grants, request, memory)
  local all = grants and redis.call('get', grants)
  if not all then return end
  local acquire = request:gsub(':released$', '')
  local left, found = all:gsub(acquire:match('[^:]*$'), '')
  if found > 0 then
    write_grants(grants, left, memory)
    redis.call('set', acquire, 'undone', 'px', memory)  -- a late copy of the acquire must not share the hold again
  end
  return left:find('[^ ]'), found > 0 and left
end
return drop_grant
