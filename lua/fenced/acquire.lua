-- Take the lock and draw a fencing token, larger than all that were drawn before.
-- May be sent twice: an owner who has the lock is told the token that it has drawn.
--
-- KEYS  lock   hash: owner -> holds; its TTL is the lease
--       token  string: the last token; it has no TTL and outlives every hold
-- ARGV  owner  who asks
--       lease  milliseconds, >= 1
-- ->    {1, now, token}  held; now is the server's time in ms since the epoch
--       {0, pttl, holder}       busy; worth asking again after so many ms (-1: it has no TTL)
--       {-1, kind}       something else stands there
local lock, token = KEYS[1], KEYS[2]
local owner, lease = ARGV[1], ARGV[2]
local kind_of = include('kind_of')
local now = include('now')
local holder_of = include('holder_of')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'lock' then return {-1, kind} end
local ours = redis.call('hexists', lock, owner) == 1
if kind == 'lock' and not ours then return {0, redis.call('pttl', lock), holder_of(lock)} end
local counter = kind_of(token)
if counter ~= 'none' and counter ~= 'number' then return {-1, 'token'} end

local time = now()  -- first: who may not ask for it takes nothing
redis.call('pexpire', lock, lease)  -- first: who may not do this leaves no lock without a TTL
local drawn = ours and tonumber(redis.call('get', token)) or redis.call('incr', token)
redis.call('hsetnx', lock, owner, 1)
redis.call('pexpire', lock, lease)
return {1, time, drawn}
