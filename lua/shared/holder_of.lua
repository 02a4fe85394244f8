-- One of the owners in `lock`, a hash with at least one: for people who wonder whom they wait for.
local function holder_of(lock)
  for _, owner in ipairs(redis.call('hkeys', lock)) do
    if owner ~= 'mode' then return (string.gsub(owner, ':write$', '')) end
  end
  return ''
end
return holder_of
