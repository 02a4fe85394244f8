local rest_of_reader = include('hold/rest_of_reader')

-- For how many ms the readers of a read/write lock go on. -2: they have ended. -1: it is not known. beside: see rest_of_reader
local function rest_of_readers(lock, beside)
  if redis.call('hlen', lock) > 1000 then return -1 end
  local fields, looks, longest = redis.call('hgetall', lock), 2000, -2
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' then
      local count = tonumber(fields[i + 1]) or looks + 1
      looks = looks - count
      local rest = looks >= 0 and rest_of_reader(beside, fields[i], count) or -1
      if rest == -1 then return -1 end
      longest = math.max(longest, rest)
    end
  end
  return longest
end
return rest_of_readers
