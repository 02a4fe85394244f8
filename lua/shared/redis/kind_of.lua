local field_of = include('redis/field_of')

-- The kind of what `key` holds:
--   none
--   lock        a hash: owner -> holds
--   read-write
--   group       of a FasterMultiLock of Redisson
--   hash        any other
--   number      semaphore, permits, latch. INCR refuses 007, -0 and +1: they are no numbers
--   string      any other
--   else the type that Redis names
local function kind_of(key)
  local kind = redis.call('type', key).ok
  if kind == 'string' then
    local text = redis.call('strlen', key) <= 16 and redis.call('get', key) or ''
    return (text == '0' or text:find('^-?[1-9]%d*$')) and 'number' or kind
  end
  if kind ~= 'hash' then return kind end

  local mode = field_of(key, 'mode', 5)
  if redis.call('hlen', key) > 1000 then  -- too many to look at each field; there may be that many readers
    return (mode == 'read' or mode == 'write') and 'read-write' or 'hash'
  end
  kind = redis.call('hexists', key, 'mode') == 1 and 'read-write' or 'lock'
  for _, field in ipairs(redis.call('hkeys', key)) do
    if field:sub(-12) == ':expire_time' then return 'group' end
    if field == 'mode' then
      if mode ~= 'read' and mode ~= 'write' then kind = 'hash' end
    elseif #field > 10000 or not (field_of(key, field, 15) or ''):find('^[1-9]%d*$') then
      kind = 'hash'
    end
  end
  return kind
end
return kind_of
