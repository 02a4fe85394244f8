-- The answer of a release or an undo that was done before; nil: it is to be done now.
-- way: 'first' or 'again' for a release; 'undo' for the reversal of what `request` has acquired. The server remembers an undo
-- even if there was nothing to undo, so that a late copy of the acquire acquires nothing.
local function answered_before(request, way, memory)
  if not request then return nil end
  local answer = redis.call('get', request)
  if way ~= 'undo' then return answer == '0' and {'still_held'} or answer and {'released', ''} or nil end
  redis.call('del', request)  -- first: it needs no memory
  redis.call('set', request, 'undone', 'px', memory)
  if not answer or answer == 'undone' then return {'not_ours'} end
  return nil
end
return answered_before
