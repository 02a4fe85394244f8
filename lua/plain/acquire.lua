-- Take the token lock that many clients share, a string that is the holder's token, or say how long it may be
-- kept.
-- May be sent twice.
--
-- KEYS  lock     string: the token; its TTL is the lease, which this never shortens
--       request  optional, string: as in lock/acquire
-- ARGV  token    who asks
--       lease    milliseconds, >= 1
--       memory   for how many ms the request is remembered
-- ->    {held, now}      now is the server's time in ms since the epoch
--       {busy, pttl}     worth asking again after so many ms (-1: it has no TTL)
--       {not_ours}       a late copy: what it took is gone
--       {foreign, kind}  something else stands there: a number without a TTL is a counter and no token
-- To a script that includes this one: whether the token had the lock before, too.
local lock, request = KEYS[1], KEYS[2]
local token, lease, memory = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local kind_of = include('kind_of')
local now = include('now')
local is_over = include('is_over')
local is_value = include('is_value')

local kind = kind_of(lock)
if kind ~= 'none' then
  if kind ~= 'string' and kind ~= 'number' then return {'foreign', kind} end
  local rest = redis.call('pttl', lock)
  if kind == 'number' and rest < 0 then return {'foreign', kind} end
  if not is_value(lock, token) then return {'busy', rest} end
end
local ours = kind ~= 'none'
if is_over(request, ours) then return {'not_ours'} end

local time = now()  -- first: who may not ask for it takes nothing
redis.call('set', lock, token, 'px', math.max(redis.call('pttl', lock), lease))
if request and not ours then redis.call('set', request, 1, 'px', memory) end
return {'held', time}, ours
