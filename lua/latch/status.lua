-- Ask for the count of a latch. This script changes nothing.
--
-- KEYS  latch  string: the count that is left
-- ->    {found, count}   0 or less: the latch is open
--       {absent}         there is no latch
--       {foreign, kind}  the key holds something else
local kind_of = include('redis/kind_of')

local kind = kind_of(latch)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end
return {'found', tonumber(redis.call('get', latch))}
