local drop_share = include('shares/drop_share')
local shares_of = include('shares/shares_of')

-- Answers an undo if its acquire acquired nothing, or if the hold stays because other acquires share it or it is kept. If the
-- hold must be released now, answers nil. The server remembers the undo in any case, so a late copy of the acquire acquires
-- nothing.
-- hold: see hold/answered_before. Its shares are found by the names of the request and of the entry
local function undone_before(hold)
  local request = hold.request
  local answer = redis.call('get', request)
  redis.call('del', request)  -- first: it needs no memory
  redis.call('set', request, 'undone', 'px', hold.memory)
  local _, shared, stays = drop_share(shares_of(request, hold.entry), request, hold.memory)
  if not shared then stays = not answer or answer == 'undone' end
  return stays and {'not_ours'}
end
return undone_before
