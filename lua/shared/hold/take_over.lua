-- The owner has acquired the lock by `request`, and may have acquired it by other requests before. A late copy of the newest of
-- these acquires, or of its undo, must not change the new hold, so that acquire counts as undone.
-- claims: string, the acquires that share the present hold: the last 32 digits of each request, the newest one at the end. A
-- release whose acquire is missing there is of a hold that has ended (see shares_hold). The hundred newest are noted.
-- anew: the owner had nothing before this request
local function take_over(claims, request, memory, anew)
  local all, id = redis.call('get', claims) or '', request:sub(-32)
  if all ~= '' and all:sub(-32) ~= id then redis.call('set', request:sub(1, -33) .. all:sub(-32), 'undone', 'px', memory) end
  all = anew and id or all:find(id) and all or (all .. id):sub(-3200)
  redis.call('set', claims, all, 'px', math.max(redis.call('pttl', claims), memory))
end
return take_over
