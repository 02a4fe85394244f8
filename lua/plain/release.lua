-- Give it back. Nothing is announced: no client of this kind of lock listens.
-- May be sent twice, and late: it is gone the second time, and a token that may come again is told by the
-- request.
--
-- KEYS  lock     string: the token
--       request  optional, string: as in lock/release
-- ARGV  token    whose
--       until    ms since the epoch (server time) before which the key stays; 0: it need not
--       memory   for how many ms the request is remembered
--       way      first, again or undo: as in lock/release
-- ->    {released, ''}  free
--       {kept, rest}    so many ms more
--       {not_ours}      not held by this token
local lock, request = KEYS[1], KEYS[2]
local token, keep_until, memory, way = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local now = include('now')
local answered_before = include('answered_before')
local is_value = include('is_value')

local before = answered_before(request, way, memory)
if before then return before end
if redis.call('type', lock).ok ~= 'string' or not is_value(lock, token) then return {'not_ours'} end
local rest = tonumber(keep_until) - now()
if rest > 0 then
  redis.call('pexpire', lock, rest)
  return {'kept', rest}
end
redis.call('del', lock)
if way == 'again' then redis.call('set', request, 1, 'px', memory) end
return {'released', ''}
