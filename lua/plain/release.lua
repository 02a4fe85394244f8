-- Release the lock. This script announces nothing: no client of this kind of lock listens.
-- This call may be sent twice, and late: the second copy finds no lock. If the token may come again, the request tells the
-- copy.
--
-- KEYS  lock     string: the token
--       request  optional, string: as in lock/release
-- ARGV  owner    the token of the holder
--       keep_until  number of ms since the epoch, server time: the lock stays until then; 0: it may end now
--       memory   for how many ms the server remembers the request
--       way      first, again or undo: as in lock/release
-- ->    {released, ''}  the lock is free
--       {kept, rest}    the lock stays for this many ms
--       {not_ours}      this token does not hold the lock
local now = include('redis/now')
local answered_before = include('hold/answered_before')
local is_value = include('redis/is_value')

local before = answered_before(request, way, memory)
if before then return before end
if redis.call('type', lock).ok ~= 'string' or not is_value(lock, owner) then return {'not_ours'} end
local rest = keep_until - now()
if rest > 0 then
  redis.call('pexpire', lock, rest)
  return {'kept', rest}
end
redis.call('del', lock)
if way == 'again' then redis.call('set', request, 1, 'px', memory) end
return {'released', ''}
