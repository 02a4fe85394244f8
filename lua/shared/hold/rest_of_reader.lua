-- For how many ms the read holds of an owner go on: the longest of its timeout keys counts. -2: they have ended. -1: unknown.
-- beside: the timeout keys are <beside><owner>:rwlock_timeout:<hold>, see read/acquire
local function rest_of_reader(beside, reader, holds)
  local longest = -2
  for hold = 1, holds do
    local rest = redis.pcall('pttl', beside .. reader .. ':rwlock_timeout:' .. hold)
    if type(rest) ~= 'number' or rest == -1 then return -1 end
    longest = math.max(longest, rest)
  end
  return longest
end
return rest_of_reader
