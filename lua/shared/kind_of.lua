-- What stands under `key`: none; lock (a hash owner -> holds); read-write; group (of a FasterMultiLock of Redisson);
-- hash (any other); number (semaphore, permits, latch); string; else the Redis type.
local function kind_of(key)
  local kind = redis.call('type', key).ok
  if kind == 'string' then
    local number = redis.call('strlen', key) <= 16 and string.find(redis.call('get', key), '^-?%d+$')
    return number and 'number' or 'string'
  end
  if kind ~= 'hash' then return kind end

  local mode = redis.call('hget', key, 'mode')
  if redis.call('hlen', key) > 1000 then  -- too many to look at each; so many readers there may be
    return (mode == 'read' or mode == 'write') and 'read-write' or 'hash'
  end
  local fields = redis.call('hgetall', key)
  kind = mode and 'read-write' or 'lock'
  for i = 1, #fields, 2 do
    local field, count = fields[i], fields[i + 1]
    if string.find(field, ':expire_time$') then return 'group' end
    if field == 'mode' then
      if count ~= 'read' and count ~= 'write' then kind = 'hash' end
    elseif not string.find(count, '^[1-9]%d*$') or #count > 15 then
      kind = 'hash'
    end
  end
  return kind
end
return kind_of
