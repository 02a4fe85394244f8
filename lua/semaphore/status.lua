-- See how many permits of a semaphore are available. Changes nothing.
--
-- KEYS  pool   string: how many permits are available
-- ->    {1, available}
--       {0}         there is none
--       {-1, kind}  something else stands there
local pool = KEYS[1]
local kind_of = include('kind_of')

local kind = kind_of(pool)
if kind == 'none' then return {0} end
if kind ~= 'number' then return {-1, kind} end
return {1, tonumber(redis.call('get', pool))}
