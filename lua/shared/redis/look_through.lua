local size_of = include('redis/size_of')

-- The type of `key`, or 'too_many' if it has more than `most` items. The server answers no other client while a script runs, and
-- cannot end a script that has written. So a script that reads a whole key asks this first.
local function look_through(key, most)
  return size_of(key) > most and 'too_many' or redis.call('type', key).ok
end
return look_through
