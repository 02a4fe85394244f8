-- Does what stands under `held` show that somebody holds? The evidence is its value (a string), a field (a
-- hash), or the owner of a permit (a zset, see mend_slots).
local tail_of = include('tail_of')
local is_value = include('is_value')
local function holds_by(held, evidence)
  local kind = redis.call('type', held).ok
  if kind == 'hash' then return redis.call('hexists', held, evidence) == 1 end
  if kind == 'string' then return is_value(held, evidence) end
  return kind == 'zset' and redis.call('zscore', held, tail_of(evidence, 1)) and true or false
end
return holds_by
