-- Calls a command that may make `key`, such as HSET, and gives the key this TTL in ms. PEXPIRE comes first, too: a client that
-- may not PEXPIRE leaves no key without a TTL.
local function write_with_ttl(command, key, ttl, ...)
  redis.call('pexpire', key, ttl)
  redis.call(command, key, ...)
  redis.call('pexpire', key, ttl)
end
return write_with_ttl
