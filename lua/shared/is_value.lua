-- Is `text` what stands under `key`, which holds a string? However long that is.
local function is_value(key, text)
  return redis.call('strlen', key) == #text and redis.call('get', key) == text
end
return is_value
