-- Take the lock, or say how long its holder may still keep it.
-- May be sent twice: a first hold is set to 1, not counted, and the holds of one who has it stay as they are.
--
-- KEYS  lock   hash: owner -> holds; its TTL is the lease
-- ARGV  owner  who asks
--       lease  milliseconds, >= 1
-- ->    {1, now}    held; now is the server's time in ms since the epoch
--       {0, pttl, holder}  busy; worth asking again after so many ms (-1: it has no TTL)
--       {-1, kind}  something else stands there
local lock = KEYS[1]
local owner, lease = ARGV[1], ARGV[2]
local kind_of = include('kind_of')
local now = include('now')
local holder_of = include('holder_of')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'lock' then return {-1, kind} end
if kind == 'lock' and redis.call('hexists', lock, owner) == 0 then return {0, redis.call('pttl', lock), holder_of(lock)} end

local time = now()  -- first: who may not ask for it takes nothing
redis.call('pexpire', lock, lease)  -- first: who may not do this leaves no lock without a TTL
redis.call('hsetnx', lock, owner, 1)
redis.call('pexpire', lock, lease)
return {1, time}
