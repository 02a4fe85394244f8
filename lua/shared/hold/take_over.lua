-- The owner has acquired the lock by `request`, and may have acquired it by other requests before. A late copy of the newest of
-- these acquires, or of its undo, must not change the new hold, so that acquire counts as undone.
-- claims: string, the acquires that share the present hold: the last 32 digits of each request, the newest one at the end. A
-- release whose acquire is missing there is of a hold that has ended (see shares_hold). An `x` in front means that others may
-- share it: the hold was older than the string, or more than a hundred acquires shared it.
-- The string stays for an hour at least: another process may prolong the hold, and does not know the string.
-- anew: the owner had nothing before this request
local function take_over(claims, request, memory, anew)
  local all, id = redis.call('get', claims), request:sub(-32)
  if all and all:sub(-32) ~= id then redis.call('set', request:sub(1, -33) .. all:sub(-32), 'undone', 'px', memory) end
  all = anew and id
    or (not all or #all > 3200) and 'x' .. id
    or all:find(id) and all
    or all .. id
  redis.call('set', claims, all, 'px', math.max(redis.call('pttl', claims), memory, 3600000))
end
return take_over
