-- Take the lock for writing: alone.
-- May be sent twice: a first hold is set to 1, not counted; one more hold is remembered by its request.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds; its TTL is that of the
--                longest lease
--       request  optional, string: add one more hold to those of an owner who writes, and remember it here
-- ARGV  owner    who asks
--       lease    milliseconds, >= 1
--       memory   for how many ms the request is remembered
-- ->    {1, now}    held; now is the server's time in ms since the epoch
--       {0, pttl, holder}  busy; worth asking again after so many ms (-1: it has no TTL)
--       {2}         one more hold was asked for, and this owner has none
--       {3}         this owner reads: it would wait for itself
--       {-1, kind}  something else stands there
local lock, request = KEYS[1], KEYS[2]
local owner, lease, memory = ARGV[1], ARGV[2], ARGV[3]
local kind_of = include('kind_of')
local now = include('now')
local holder_of = include('holder_of')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'read-write' then return {-1, kind} end
local field = owner .. ':write'
local writes = redis.call('hexists', lock, field) == 1
if not writes and redis.call('hexists', lock, owner) == 1 then return {3} end
if request and not writes then return {2} end
if request and redis.call('exists', request) == 1 then return {1, now()} end
if kind ~= 'none' and not writes then return {0, redis.call('pttl', lock), holder_of(lock)} end

local longest = math.max(redis.call('pttl', lock), tonumber(lease))
local time = now()  -- first: who may not ask for it takes nothing
redis.call('pexpire', lock, longest)  -- first: who may not do this leaves no lock without a TTL
if request then
  redis.call('set', request, 1, 'px', memory)
  redis.call('hincrby', lock, field, 1)
elseif not writes then
  redis.call('hset', lock, 'mode', 'write', field, 1)
end
redis.call('pexpire', lock, longest)
return {1, time}
