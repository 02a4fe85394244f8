local tail_of = include('permits/tail_of')
local is_value = include('redis/is_value')

-- Does the key `held` show that the hold of `entry` goes on? The entry is the value of a string, or a field of a hash. If `held`
-- is the zset of slots (see permits/mend_slots), the entry is the owner of a permit.
local function holds_by(held, entry)
  local kind = redis.call('type', held).ok
  if kind == 'hash' then return redis.call('hexists', held, entry) == 1 end
  if kind == 'string' then return is_value(held, entry) end
  return kind == 'zset' and redis.call('zscore', held, tail_of(entry, 1))
end
return holds_by
