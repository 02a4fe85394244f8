-- Add one more hold to those of an owner who has the lock.
-- May be sent twice: the request is remembered, and its repetition is answered, not counted.
--
-- KEYS  lock     hash: owner -> holds; its TTL is the lease, which this never shortens
--       request  string: this request was done, or undone
-- ARGV  owner    who asks
--       lease    milliseconds, >= 1
--       memory   for how many ms the request is remembered
-- ->    {held, now}      now is the server's time in ms since the epoch
--       {not_ours}       this owner does not have it, or the request was undone
--       {foreign, kind}  something else stands there
local lock, request = KEYS[1], KEYS[2]
local owner, lease, memory = ARGV[1], ARGV[2], ARGV[3]
local kind_of = include('kind_of')
local now = include('now')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'lock' then return {'foreign', kind} end
if redis.call('hexists', lock, owner) == 0 then return {'not_ours'} end
local answered = redis.call('get', request)
if answered == 'undone' then return {'not_ours'} end

local time = now()  -- first: who may not ask for it takes nothing
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), tonumber(lease)))
if answered then return {'held', time} end
redis.call('set', request, 1, 'px', memory)
redis.call('hincrby', lock, owner, 1)
return {'held', time}
