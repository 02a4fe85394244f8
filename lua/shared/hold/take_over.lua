-- The owner has acquired the lock by `request`, and may have acquired it by another request before. If that one is undone late,
-- or arrives late, this must not change the hold: from now on it counts as undone. If the owner has acquired the lock `anew`, the
-- earlier hold had ended: its release may be late, too, and has nothing to release. Of
-- an acquire that is more than `memory` ms old, the server knows nothing: its late release frees the new hold.
-- The newest request of each owner is noted beside the requests, whose names end with 32 digits. Of a read/write lock, an owner
-- may have both halves: `owner` is its field, so that each half has a note of its own.
local function take_over(request, owner, memory, anew)
  local base, id = request:sub(1, -33), request:sub(-32)
  local note = base .. 'of:' .. owner
  local old = redis.call('get', note)
  if old and old ~= id then
    redis.call('set', base .. old, 'undone', 'px', memory)
    if anew then redis.call('set', base .. old .. ':released', 2, 'px', memory, 'nx') end
  end
  redis.call('set', note, id, 'px', memory)
end
return take_over
