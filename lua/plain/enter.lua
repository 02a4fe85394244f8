-- See whether this token has the lock, for a hold inside its hold. Changes nothing: a token cannot be counted.
--
-- KEYS  lock   string: the token
-- ARGV  token  who asks
-- ->    {1, now}  it has; now is the server's time in ms since the epoch
--       {2}       it has not
local lock = KEYS[1]
local token = ARGV[1]
local now = include('now')

if redis.call('type', lock).ok ~= 'string' or redis.call('get', lock) ~= token then return {2} end
return {1, now()}
