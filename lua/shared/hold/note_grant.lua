local write_grants = include('hold/write_grants')

-- Notes that the owner has acquired the lock by `request`.
-- grants: string, the acquires that share the owner's present hold: the last 32 digits of each request, the newest at the end. An
-- `x` in front says that the server does not know all: the hold is older than the string, or more than a hundred shared it. A
-- release and a renewal ask whether their acquire is there (see shares_hold), and the release takes it out (see drop_grant).
-- The newest acquire before this one counts as undone: a late copy of it, or of its undo, must change nothing any more.
-- If it is empty, only inner holds are left (see outer_is_over). A blank in front says that the lock was kept before (see
-- nothing_shares).
-- anew: the owner had nothing before this request
local function note_grant(grants, request, memory, anew)
  local all, id = redis.call('get', grants), request:sub(-32)
  if all and #all >= 32 and all:sub(-32) ~= id then
    redis.call('set', request:sub(1, -33) .. all:sub(-32), 'undone', 'px', memory)
  end
  if anew then
    all = id
  elseif not all then
    all = 'x' .. id
  elseif not all:find(id) then
    all = (#all > 3200 and 'x' .. all:sub(-3136) or all) .. id
  end
  write_grants(grants, all, memory)
end
return note_grant
