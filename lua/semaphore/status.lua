-- See how many permits of a semaphore are available. Changes nothing.
--
-- KEYS  pool  string: how many permits are available
-- ->    {found, available}
--       {absent}         there is none
--       {foreign, kind}  something else stands there
local pool = KEYS[1]
local kind_of = include('kind_of')

local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end
return {'found', tonumber(redis.call('get', pool))}
