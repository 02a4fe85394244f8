local size_of = include('size_of')

-- The type of `key`, or 'crowd' where it has more than `most` items: the server answers nobody while a script
-- runs, and cannot end one that has written. So who reads a whole key asks this first.
local function look_through(key, most)
  return size_of(key) > most and 'crowd' or redis.call('type', key).ok
end
return look_through
