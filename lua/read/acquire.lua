-- Take the lock for reading: beside other readers, or beside one's own write hold.
-- May be sent twice: a first hold is set to 1, not counted; one more hold is remembered by its request. The
-- leases are never shortened.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds; its TTL is
--                that of the longest lease
--       timeout  string: exists while this owner's read holds count; its TTL is their lease
--       request  optional, string: this request took the lock, or one more hold of it: as in lock/acquire
-- ARGV  owner    who asks
--       lease    milliseconds, >= 1
--       memory   for how many ms the request is remembered
--       another  1: add one more hold to those of an owner who has the lock
-- ->    {held, now}           now is the server's time in ms since the epoch
--       {busy, pttl, holder}  worth asking again after so many ms (-1: it has no TTL)
--       {not_ours}            one more hold was asked for, and this owner has none; or a late copy: what it
--                             took is gone
--       {foreign, kind}       something else stands there
-- Redisson makes a timeout key for each hold of an owner and lets the longest count. Here all holds of an
-- owner share the first, which is the same for whoever looks.
-- To a script that includes this one: whether this call changed no count, too.
local lock, timeout, request = KEYS[1], KEYS[2], KEYS[3]
local owner, lease, memory, another = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'
local kind_of = include('kind_of')
local now = include('now')
local holder_of = include('holder_of')
local is_over = include('is_over')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'read-write' then return {'foreign', kind} end
local holds = tonumber(redis.call('hget', lock, owner) or 0)
local writes = redis.call('hexists', lock, owner .. ':write') == 1
if another and holds == 0 and not writes then return {'not_ours'} end
if not writes and redis.call('hget', lock, 'mode') == 'write' then
  return {'busy', redis.call('pttl', lock), holder_of(lock)}
end
if is_over(request, holds > 0) then return {'not_ours'} end

local rest = math.max(redis.call('pttl', timeout), tonumber(lease))
local longest = math.max(redis.call('pttl', lock), rest)
local time = now()  -- first: who may not ask for it takes nothing
redis.call('pexpire', lock, longest)  -- first: who may not do this leaves no lock without a TTL
redis.call('set', timeout, 1, 'px', rest)
if kind == 'none' then redis.call('hset', lock, 'mode', 'read') end
local counts = another and redis.call('exists', request) == 0 or holds == 0
if counts then redis.call('hincrby', lock, owner, 1) end
if counts and request then redis.call('set', request, 1, 'px', memory) end
redis.call('pexpire', lock, longest)
return {'held', time}, not counts
