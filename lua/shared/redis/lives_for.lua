-- Makes sure that `key` lives for this many ms at least.
local function lives_for(key, ms)
  if redis.call('pttl', key) < ms then redis.call('pexpire', key, ms) end
end
return lives_for
