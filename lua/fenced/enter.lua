-- Add one more hold to those of an owner who has the lock, with a token of its own.
-- May be sent twice: the request is remembered with its token, and its repetition is answered, not counted. But
-- when another hold has drawn a larger token meanwhile, it draws anew: who hears of its token only now must not
-- begin with one that is older than what others have used.
--
-- KEYS  lock     hash: owner -> holds; its TTL is the lease, which this never shortens
--       token    string: the last token
--       request  string: the token of this request, or that it was undone
-- ARGV  owner    who asks
--       lease    milliseconds, >= 1
--       memory   for how many ms the request is remembered
-- ->    {held, now, token}  now is the server's time in ms since the epoch
--       {not_ours}          this owner does not have it, or the request was undone
--       {foreign, kind}     something else stands there
local lock, token, request = KEYS[1], KEYS[2], KEYS[3]
local owner, lease, memory = ARGV[1], ARGV[2], ARGV[3]
local kind_of = include('kind_of')
local now = include('now')

local kind = kind_of(lock)
if kind ~= 'none' and kind ~= 'lock' then return {'foreign', kind} end
if redis.call('hexists', lock, owner) == 0 then return {'not_ours'} end
local answered = redis.call('get', request)
if answered == 'undone' then return {'not_ours'} end
local counter = kind_of(token)
if counter ~= 'none' and counter ~= 'number' then return {'foreign', 'token'} end

local time = now()  -- first: who may not ask for it takes nothing
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), tonumber(lease)))
local last = tonumber(redis.call('get', token) or 0)
if answered and last <= tonumber(answered) then return {'held', time, tonumber(answered)} end
local drawn = redis.call('incr', token)
redis.call('set', request, drawn, 'px', memory)
if not answered then redis.call('hincrby', lock, owner, 1) end
return {'held', time, drawn}
