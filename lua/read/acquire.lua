-- Take the lock for reading: beside other readers, or beside one's own write hold.
-- May be sent twice: a first hold is set to 1, not counted; one more hold is remembered by its request.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds; its TTL is that of the
--                longest lease
--       timeout  string: exists while this owner's read holds count; its TTL is their lease
--       request  optional, string: add one more hold to those of an owner who has the lock, and remember it here
-- ARGV  owner    who asks
--       lease    milliseconds, >= 1
--       memory   for how many ms the request is remembered
-- ->    {1, now}    held; now is the server's time in ms since the epoch
--       {0, pttl, holder}  busy; worth asking again after so many ms (-1: it has no TTL)
--       {2}         one more hold was asked for, and this owner has none
--       {-1, kind}  something else stands there
-- Redisson makes a timeout key for each hold of an owner and lets the longest count. Here all holds of an owner share
-- the first, which is the same for whoever looks.
local lock, timeout, request = KEYS[1], KEYS[2], KEYS[3]
local owner, lease, memory = ARGV[1], ARGV[2], ARGV[3]
local kind_of = include('kind_of')
local now = include('now')
local holder_of = include('holder_of')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'read-write' then return {-1, kind} end
local holds = tonumber(redis.call('hget', lock, owner) or 0)
local writes = redis.call('hexists', lock, owner .. ':write') == 1
if request and holds == 0 and not writes then return {2} end
if request and redis.call('exists', request) == 1 then return {1, now()} end
if not writes and redis.call('hget', lock, 'mode') == 'write' then return {0, redis.call('pttl', lock), holder_of(lock)} end

local rest = tonumber(lease)
if request or holds > 1 then rest = math.max(redis.call('pttl', timeout), rest) end
local longest = math.max(redis.call('pttl', lock), rest)
local time = now()  -- first: who may not ask for it takes nothing
redis.call('pexpire', lock, longest)  -- first: who may not do this leaves no lock without a TTL
redis.call('set', timeout, 1, 'px', rest)
if kind == 'none' then redis.call('hset', lock, 'mode', 'read') end
if request then
  redis.call('set', request, 1, 'px', memory)
  redis.call('hincrby', lock, owner, 1)
else
  redis.call('hsetnx', lock, owner, 1)
end
redis.call('pexpire', lock, longest)
return {1, time}
