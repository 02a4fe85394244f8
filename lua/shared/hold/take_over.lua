-- The owner has acquired the lock by `request`, and may have acquired it by another request before. If that one is undone late,
-- or arrives late, this must not change the hold: from now on it counts as undone.
-- The newest request of each owner is noted beside the requests, whose names end with 32 digits. Of a read/write lock, an owner
-- may have both halves: `owner` is its field, so that each half has a note of its own.
local function take_over(request, owner, memory)
  local beside, id = string.sub(request, 1, -33), string.sub(request, -32)
  local newest = beside .. 'of:' .. owner
  local before = redis.call('get', newest)
  if before and before ~= id then redis.call('set', beside .. before, 'undone', 'px', memory) end
  redis.call('set', newest, id, 'px', memory)
end
return take_over
