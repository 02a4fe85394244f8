-- Take the lock for writing: alone.
-- May be sent twice: a first hold is set to 1, not counted; one more hold is remembered by its request. The
-- leases are never shortened.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds; its TTL is
--                that of the longest lease
--       request  optional, string: this request took the lock, or one more hold of it: as in lock/acquire
-- ARGV  owner    who asks
--       lease    milliseconds, >= 1
--       memory   for how many ms the request is remembered
--       another  1: add one more hold to those of an owner who writes
-- ->    {held, now}           now is the server's time in ms since the epoch
--       {busy, pttl, holder}  worth asking again after so many ms (-1: it has no TTL)
--       {not_ours}            one more hold was asked for, and this owner has none; or a late copy: what it
--                             took is gone
--       {upgrade}             this owner reads: it would wait for itself
--       {foreign, kind}       something else stands there
-- To a script that includes this one: whether this call changed no count, too.
local lock, request = KEYS[1], KEYS[2]
local owner, lease, memory, another = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'
local kind_of = include('kind_of')
local now = include('now')
local holder_of = include('holder_of')
local is_over = include('is_over')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'read-write' then return {'foreign', kind} end
local field = owner .. ':write'
local writes = redis.call('hexists', lock, field) == 1
if not writes and redis.call('hexists', lock, owner) == 1 then return {'upgrade'} end
if another and not writes then return {'not_ours'} end
if kind ~= 'none' and not writes then return {'busy', redis.call('pttl', lock), holder_of(lock)} end
if is_over(request, writes) then return {'not_ours'} end

local longest = math.max(redis.call('pttl', lock), tonumber(lease))
local time = now()  -- first: who may not ask for it takes nothing
redis.call('pexpire', lock, longest)  -- first: who may not do this leaves no lock without a TTL
local counts = another and redis.call('exists', request) == 0 or not writes
if counts then
  redis.call('hset', lock, 'mode', 'write')
  redis.call('hincrby', lock, field, 1)
  if request then redis.call('set', request, 1, 'px', memory) end
end
redis.call('pexpire', lock, longest)
return {'held', time}, not counts
