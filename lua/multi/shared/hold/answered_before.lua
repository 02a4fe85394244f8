local undone_before = include('hold/undone_before')

-- Several keys are given back here, but none is kept. A `first` release has remembered an answer only if another hold goes on:
-- see lua/shared/hold/answered_before.lua.
local function answered_before(hold)
  if hold.way == 'undo' then return undone_before(hold) end
  return hold.request and redis.call('get', hold.request) and {'still_held'}
end
return answered_before
