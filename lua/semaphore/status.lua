-- Count the permits of a semaphore that are available. This script changes nothing.
--
-- KEYS  pool  string: the number of permits that are available
-- ->    {found, available}
--       {absent}         there is no semaphore
--       {foreign, kind}  the key holds something else
local kind_of = include('redis/kind_of')

local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end
return {'found', tonumber(redis.call('get', pool))}
