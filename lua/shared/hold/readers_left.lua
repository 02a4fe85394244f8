local rest_of_reader = include('hold/rest_of_reader')

-- After a reader has left or was removed: lets the lock last no longer than the readers that are alive. Some may be dead. Returns
-- whether the lock goes on: false if all others are dead. If there are many, or one that cannot be looked at, the lock
-- keeps its TTL, and the next reader to leave looks again.
-- most: of how many readers the function looks at the timeout keys. beside: see rest_of_reader
local function readers_left(lock, most, beside)
  if redis.call('hlen', lock) - 1 > most then return true end
  local fields, looks, longest = redis.call('hgetall', lock), 2000, -2
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' then
      local holds = tonumber(fields[i + 1]) or 0
      looks = looks - holds
      local rest = holds >= 1 and looks >= 0 and rest_of_reader(beside, fields[i], holds) or -1
      if rest == -1 then return true end
      longest = math.max(longest, rest)
    end
  end
  if longest >= 0 and redis.call('pttl', lock) > longest then redis.call('pexpire', lock, math.max(longest, 1)) end
  return longest > -2
end
return readers_left
