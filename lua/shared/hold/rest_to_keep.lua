local now = include('redis/now')

-- For how many ms the lock must stay after a release: this release may demand it (hold.keep_until), or an earlier one of the same
-- owner (hold.keep).
-- hold: see hold/answered_before
-- goes_on: the owner has another hold. Then the function writes the time into `keep`, for the release of that hold
local function rest_to_keep(hold, goes_on)
  local keep, keep_until, head = hold.keep, hold.keep_until, hold.owner .. '\n'
  local note = tostring(keep and redis.pcall('getrange', keep, 0, 4000))
  if note:sub(1, #head) == head then
    keep_until = math.max(keep_until, tonumber(note:sub(#head + 1)) or 0)
  end
  local rest = keep_until - now()
  if goes_on and keep and rest > 0 then
    redis.call('set', keep, head .. string.format('%.0f', keep_until), 'px', rest)
  end
  return rest
end
return rest_to_keep
