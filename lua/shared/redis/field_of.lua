-- The field of a hash; nil if there is none, or if it is longer than `most` bytes: then rlock has not written it.
local function field_of(key, field, most)
  return redis.call('hstrlen', key, field) <= most and redis.call('hget', key, field) or nil
end
return field_of
