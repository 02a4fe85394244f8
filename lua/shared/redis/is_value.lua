-- Does `key`, which holds a string, hold `text`? The string may be large.
local function is_value(key, text)
  return redis.call('strlen', key) == #text and redis.call('get', key) == text
end
return is_value
