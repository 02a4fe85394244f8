local now = include('redis/now')

-- For how many ms the lock must stay after a release: because of this release, or of one of the same owner before it.
-- keep: optional, string "<owner>\n<until>", see lock/release. goes_on: another hold of the owner goes on, so this is noted there
local function rest_to_keep(keep, owner, keep_until, goes_on)
  local noted = ''
  if keep and redis.call('type', keep).ok == 'string' then noted = redis.call('getrange', keep, 0, 4000) end
  local noted_owner, noted_until = string.match(noted, '^([^\n]*)\n(%d+)$')
  if noted_owner ~= owner then noted_until = 0 end
  local rest = math.max(keep_until, tonumber(noted_until)) - now()
  if goes_on and keep and rest > 0 then
    redis.call('set', keep, owner .. '\n' .. string.format('%.0f', now() + rest), 'px', rest)
  end
  return rest
end
return rest_to_keep
