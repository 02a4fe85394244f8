-- Delete a token lock, no matter who holds it.
-- This call may be sent twice.
--
-- KEYS  lock   string: the token
-- ARGV  owner  delete the lock only if it holds this token; '': delete it in any case
-- ->    {removed, ''}
--       {absent}              there is no lock
--       {other_owner, other}  the lock holds another token
--       {foreign, kind}       the key holds something else
local kind_of = include('redis/kind_of')
local is_value = include('redis/is_value')
local discard = include('redis/discard')

local kind = kind_of(lock)
if kind == 'none' then return {'absent'} end
if kind ~= 'string' and kind ~= 'number' then return {'foreign', kind} end
if kind == 'number' and redis.call('pttl', lock) < 0 then return {'foreign', kind} end
if owner ~= '' and not is_value(lock, owner) then
  return {'other_owner', redis.call('getrange', lock, 0, 999)}
end

discard(lock)
return {'removed', ''}
