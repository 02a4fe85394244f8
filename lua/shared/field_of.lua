-- The field of a hash; nothing where there is none, or one that is longer than `most` bytes and nothing of
-- ours.
local function field_of(key, field, most)
  return redis.call('hstrlen', key, field) <= most and redis.call('hget', key, field) or nil
end
return field_of
