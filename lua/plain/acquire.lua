-- Take the token lock that many clients share, a string that is the holder's token, or say how long it may be kept.
-- May be sent twice.
--
-- KEYS  lock   string: the token; its TTL is the lease
-- ARGV  token  who asks
--       lease  milliseconds, >= 1
-- ->    {1, now}    held; now is the server's time in ms since the epoch
--       {0, pttl}   busy; worth asking again after so many ms (-1: it has no TTL)
--       {-1, kind}  something else stands there: a number without a TTL is a counter and no token
local lock = KEYS[1]
local token, lease = ARGV[1], ARGV[2]
local kind_of = include('kind_of')
local now = include('now')

local kind = kind_of(lock)
if kind ~= 'none' then
  if kind ~= 'string' and kind ~= 'number' then return {-1, kind} end
  local rest = redis.call('pttl', lock)
  if kind == 'number' and rest < 0 then return {-1, kind} end
  if redis.call('get', lock) ~= token then return {0, rest} end
end

local time = now()  -- first: who may not ask for it takes nothing
redis.call('set', lock, token, 'px', lease)
return {1, time}
