-- Remove a token lock, whoever holds it.
-- May be sent twice.
--
-- KEYS  lock   string: the token
-- ARGV  token  only if it is this one; '': any
-- ->    {removed, ''}         it was there
--       {absent}              nothing there
--       {other_owner, other}  another token
--       {foreign, kind}       something else stands there
local lock = KEYS[1]
local token = ARGV[1]
local kind_of = include('kind_of')
local is_value = include('is_value')
local discard = include('discard')

local kind = kind_of(lock)
if kind == 'none' then return {'absent'} end
if kind ~= 'string' and kind ~= 'number' then return {'foreign', kind} end
if kind == 'number' and redis.call('pttl', lock) < 0 then return {'foreign', kind} end
if token ~= '' and not is_value(lock, token) then
  return {'other_owner', redis.call('getrange', lock, 0, 999)}
end

discard(lock)
return {'removed', ''}
