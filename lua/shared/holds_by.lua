-- Does what stands under `held` show that somebody holds? The evidence is its value (a string), a field (a hash), a
-- member or the owner of permits (a zset).
local permits_of = include('permits_of')
local function holds_by(held, evidence)
  local kind = redis.call('type', held).ok
  if kind == 'hash' then return redis.call('hexists', held, evidence) == 1 end
  if kind == 'string' then return redis.call('get', held) == evidence end
  if kind ~= 'zset' then return false end
  return redis.call('zscore', held, evidence) or permits_of(evidence, 1, held)[1]
end
return holds_by
