-- Forget what was written down about a holder. Nobody reads the answer.
-- May be sent twice.
--
-- KEYS  meta   hash: owner -> JSON
-- ARGV  owner  whose facts
-- ->    1      forgotten
--       0      nothing was known
local meta = KEYS[1]
local owner = ARGV[1]
return redis.call('hdel', meta, owner)
