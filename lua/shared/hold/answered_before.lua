local drop_grant = include('hold/drop_grant')
local grants_of = include('hold/grants_of')
local rest_to_keep = include('hold/rest_to_keep')
local shares_hold = include('hold/shares_hold')

-- The answer of a release or an undo that was done before, or that leaves the hold to other acquires; nil: it is to be done now.
-- A second value of not_ours says that the hold has ended, so a place in the line is of another acquire of the owner.
-- request: of a release, 0: the lock stayed (still_held or kept), 1: it was released
-- grants: optional, see shares_hold. An undo finds them by the names of `request` and of `entry`
-- entry: how the lock names the hold: the owner, or the field of its write hold. has: the owner has the hold
-- keep, owner, keep_until: see rest_to_keep
-- way: 'first' or 'again' for a release; 'undo' for the reversal of what `request` has acquired. The server remembers an undo
-- even if there was nothing to undo, so that a late copy of the acquire acquires nothing.
local function answered_before(request, way, memory, keep, owner, keep_until, grants, entry, has)
  if not request then return nil end
  local answer = redis.call('get', request)
  if way == 'undo' then
    redis.call('del', request)  -- first: it needs no memory
    redis.call('set', request, 'undone', 'px', memory)
    local _, left = drop_grant(grants_of(request, entry), request, memory)
    if left then return left ~= '' and {'not_ours'} or nil end
    return (not answer or answer == 'undone') and {'not_ours'} or nil
  end
  if answer == '1' then return {'released', ''} end
  if not answer then
    if not shares_hold(grants, request) then return {'not_ours', ''} end
    if not has or not drop_grant(grants, request, memory) then return nil end
    redis.call('set', request, 0, 'px', memory)
  end
  local rest = rest_to_keep(keep, owner, keep_until, not answer)
  return rest > 0 and {'kept', rest} or {'still_held'}
end
return answered_before
