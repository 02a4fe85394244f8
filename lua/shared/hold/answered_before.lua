local rest_to_keep = include('hold/rest_to_keep')
local shares_hold = include('hold/shares_hold')

-- The answer of a release or an undo that was done before; nil or false: it is to be done now. A second value of not_ours says
-- that the hold has ended, so a place in the line is of another acquire of the owner.
-- request: of a release, 0: the lock stayed (still_held or kept), 1: it was released
-- grants: optional, see shares_hold
-- keep, owner, keep_until: see rest_to_keep
-- way: 'first' or 'again' for a release; 'undo' for the reversal of what `request` has acquired. The server remembers an undo
-- even if there was nothing to undo, so that a late copy of the acquire acquires nothing.
local function answered_before(request, way, memory, keep, owner, keep_until, grants)
  if not request then return nil end
  local answer = redis.call('get', request)
  if way == 'undo' then
    redis.call('del', request)  -- first: it needs no memory
    redis.call('set', request, 'undone', 'px', memory)
    return (not answer or answer == 'undone') and {'not_ours'}
  end
  if answer == '1' then return {'released', ''} end
  if not answer then return not shares_hold(grants, request) and {'not_ours', ''} end
  local rest = rest_to_keep(keep, owner, keep_until)
  return rest > 0 and {'kept', rest} or {'still_held'}
end
return answered_before
