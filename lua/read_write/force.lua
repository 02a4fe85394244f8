-- Remove a read/write lock, whoever holds it, and wake who waits. The timeout keys of readers end by themselves.
-- May be sent twice.
--
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds
-- ARGV  owner    only if this one reads or writes; '': any
--       channel  where to announce it
--       sharded  1: as sharded pub/sub too
-- ->    {1, why}    removed; why: the waiters could not be told, because of this ('': they were)
--       {0}         nothing there
--       {2, other}  another owner holds it
--       {-1, kind}  something else stands there
local lock = KEYS[1]
local owner, channel, sharded = ARGV[1], ARGV[2], ARGV[3]
local kind_of = include('kind_of')
local holder_of = include('holder_of')
local announce = include('announce')
local discard = include('discard')

local kind = kind_of(lock)
if kind == 'none' then return {0} end
if kind ~= 'read-write' then return {-1, kind} end
local holds = redis.call('hmget', lock, owner, owner .. ':write')
if owner ~= '' and not holds[1] and not holds[2] then return {2, holder_of(lock)} end

local mode = redis.call('hget', lock, 'mode')
discard(lock)
return {1, announce(channel, mode == 'read' and '0' or '1', sharded)}
