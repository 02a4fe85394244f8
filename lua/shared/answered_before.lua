-- What a call that gives a hold back answers at once, since the same was done before; nothing: it is to be
-- done now.
-- way: 'first' or 'again', a release; 'undo', the reversal of what `request` has acquired. An undo is
-- remembered even when there was nothing to undo: a copy of the acquire that comes late must not take
-- anything either.
local function answered_before(request, way, memory)
  if not request then return nil end
  local answer = redis.call('get', request)
  if way ~= 'undo' then return answer == '0' and {'still_held'} or answer and {'released', ''} or nil end
  -- First: behind a write that takes no memory others are let through when none is left.
  redis.call('del', request)
  redis.call('set', request, 'undone', 'px', memory)
  if not answer or answer == 'undone' then return {'not_ours'} end
  return nil
end
return answered_before
