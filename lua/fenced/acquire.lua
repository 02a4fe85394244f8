-- Take the lock and draw a fencing token, larger than all that were drawn before.
-- May be sent twice: an owner who has the lock is told the token that it has drawn.
--
-- KEYS  lock     hash: owner -> holds; its TTL is the lease, which this never shortens
--       token    string: the last token; it has no TTL and outlives every hold
--       request  optional, string: as in lock/acquire
-- ARGV  owner    who asks
--       lease    milliseconds, >= 1
--       memory   for how many ms the request is remembered
-- ->    {held, now, token}    now is the server's time in ms since the epoch
--       {busy, pttl, holder}  worth asking again after so many ms (-1: it has no TTL)
--       {not_ours}            a late copy: what it took is gone
--       {foreign, kind}       something else stands there
-- To a script that includes this one: whether this call changed no count, too.
local lock, token, request = KEYS[1], KEYS[2], KEYS[3]
local owner, lease, memory = ARGV[1], ARGV[2], ARGV[3]
local kind_of = include('kind_of')
local now = include('now')
local holder_of = include('holder_of')
local is_over = include('is_over')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'lock' then return {'foreign', kind} end
local ours = redis.call('hexists', lock, owner) == 1
if kind == 'lock' and not ours then return {'busy', redis.call('pttl', lock), holder_of(lock)} end
if is_over(request, ours) then return {'not_ours'} end
local counter = kind_of(token)
if counter ~= 'none' and counter ~= 'number' then return {'foreign', 'token'} end

local time = now()  -- first: who may not ask for it takes nothing
local longest = math.max(redis.call('pttl', lock), tonumber(lease))
redis.call('pexpire', lock, longest)  -- first: who may not do this leaves no lock without a TTL
local drawn = ours and tonumber(redis.call('get', token)) or redis.call('incr', token)
redis.call('hsetnx', lock, owner, 1)
redis.call('pexpire', lock, longest)
if request and not ours then redis.call('set', request, 1, 'px', memory) end
return {'held', time, drawn}, ours
