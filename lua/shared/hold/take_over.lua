-- The owner has acquired the lock by `request`, and may have acquired it by another request before. If that one is undone late,
-- or arrives late, this must not change the hold: from now on it counts as undone. If the owner has acquired the lock `anew`, the
-- earlier hold had ended: its release may be late, too, and counts as done.
-- The newest request of each owner is noted beside the requests, whose names end with 32 digits. Of a read/write lock, an owner
-- may have both halves: `owner` is its field, so that each half has a note of its own.
local function take_over(request, owner, memory, anew)
  local beside, id = string.sub(request, 1, -33), string.sub(request, -32)
  local newest = beside .. 'of:' .. owner
  local old = redis.call('get', newest)
  if old and old ~= id then
    redis.call('set', beside .. old, 'undone', 'px', memory)
    if anew then redis.call('set', beside .. old .. ':released', 0, 'px', memory) end
  end
  redis.call('set', newest, id, 'px', memory)
end
return take_over
