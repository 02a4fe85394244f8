-- Give it back. Nothing is announced: no client of this kind of lock listens.
-- May be sent twice: it is gone the second time.
--
-- KEYS  lock   string: the token
-- ARGV  token  whose
--       until  ms since the epoch (server time) before which the key stays; 0: it need not
-- ->    {1, ''}    free
--       {2, rest}  kept, so many ms more
--       {-1}       not held by this token
local lock = KEYS[1]
local token, keep_until = ARGV[1], ARGV[2]
local now = include('now')

if redis.call('type', lock).ok ~= 'string' or redis.call('get', lock) ~= token then return {-1} end
local rest = tonumber(keep_until) - now()
if rest > 0 then
  redis.call('pexpire', lock, rest)
  return {2, rest}
end
redis.call('del', lock)
return {1, ''}
