-- Is this a late copy of an acquire whose hold was undone, or has ended? It must not acquire the lock again.
-- `has`: the owner holds the lock now.
local function is_late_copy(request, has)
  local answer = request and redis.call('get', request)
  return answer and (answer == 'undone' or not has)
end
return is_late_copy
