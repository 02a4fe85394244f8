-- The number of items in `key` if it is a list, a hash or a sorted set, else 0. Reading all of them takes as long.
local function size_of(key)
  local count = ({ list = 'llen', hash = 'hlen', zset = 'zcard' })[redis.call('type', key).ok]
  return count and redis.call(count, key) or 0
end
return size_of
