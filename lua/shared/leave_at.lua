local leave_place = include('leave_place')
local queue_at = include('queue_at')

-- For all_or_none: gives up a place, as a function of the KEYS and ARGV of a release whose line begins at
-- KEYS[first].
local function leave_at(first)
  return function(KEYS, ARGV) leave_place(queue_at(KEYS, first, ARGV[8], ARGV[5]), KEYS[1], ARGV[1]) end
end
return leave_at
