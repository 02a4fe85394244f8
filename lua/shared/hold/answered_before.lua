local undone_before = include('hold/undone_before')
local drop_share = include('shares/drop_share')
local has_share = include('shares/has_share')
local kept_or_held = include('hold/kept_or_held')
local rest_to_keep = include('hold/rest_to_keep')

-- Answers a release or an undo that was done before, or that leaves the hold to other acquires. If it must be done now, answers
-- nil. If not_ours has a second value, the hold has ended, and a place in the line belongs to another acquire of the owner.
-- hold: what the release is about:
--   request   optional. It remembers the answer of a release. 0: the lock stayed (still_held or kept). 1: it was released
--   entry     how the lock names the hold: the owner, or the field of its write hold
--   shares    optional, see shares/read_shares
--   way       'first' or 'again' for a release; 'undo' for the reversal of what `request` has acquired, see hold/undone_before
--   memory    for how many ms the server remembers
--   keep, owner, keep_until  see hold/rest_to_keep
-- has: the owner has the hold
local function answered_before(hold, has)
  local request = hold.request
  if not request then return end
  if hold.way == 'undo' then return undone_before(hold) end
  local answer = redis.call('get', request)
  if answer == '1' then return {'released', ''} end
  if not answer then
    if not has_share(hold.shares, request) then return {'not_ours', ''} end
    if not has or not drop_share(hold.shares, request, hold.memory) then return end
    redis.call('set', request, 0, 'px', hold.memory)
  end
  return kept_or_held(rest_to_keep(hold, not answer))
end
return answered_before
