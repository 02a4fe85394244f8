-- Does what stands under `held` show that somebody holds? The evidence is its value (a string), a field (a
-- hash), a member or the owner of permits (a zset).
local permits_of = include('permits_of')
local is_value = include('is_value')
local function holds_by(held, evidence)
  local kind = redis.call('type', held).ok
  if kind == 'hash' then return redis.call('hexists', held, evidence) == 1 end
  if kind == 'string' then return is_value(held, evidence) end
  if kind ~= 'zset' then return false end
  if redis.call('zscore', held, evidence) then return true end
  return redis.call('zcard', held) <= 12000 and permits_of(evidence, 1, held)[1]  -- no crowd: see taken_permits
end
return holds_by
