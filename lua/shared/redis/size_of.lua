-- The number of items in `key` if it is a list, a hash or a sorted set, else 0. To read the key takes time in proportion.
local function size_of(key)
  local count = ({list = 'llen', hash = 'hlen', zset = 'zcard'})[redis.call('type', key).ok]
  return count and redis.call(count, key) or 0
end
return size_of
