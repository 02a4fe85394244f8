local tail_of = include('permits/tail_of')
local is_value = include('redis/is_value')

-- Does `held` show that an owner holds it? The entry is its value (string), a field (hash), or the owner of a permit (zset,
-- see permits/mend_slots).
local function holds_by(held, entry)
  local kind = redis.call('type', held).ok
  if kind == 'hash' then return redis.call('hexists', held, entry) == 1 end
  if kind == 'string' then return is_value(held, entry) end
  return kind == 'zset' and redis.call('zscore', held, tail_of(entry, 1)) and true or false
end
return holds_by
