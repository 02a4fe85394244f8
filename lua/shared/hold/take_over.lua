-- The owner has acquired the lock by `request`, and may have acquired it by another request before. A late copy of that acquire,
-- of its undo or of its release must not change the new hold. So the acquire counts as undone. If the owner had nothing before
-- this request (`anew`), the earlier hold has ended, and its release counts as answered with not_ours. The server knows the
-- earlier acquire for `memory` ms: the release of an older one is not recognised, and frees the new hold.
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
