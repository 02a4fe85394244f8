-- See how often a latch is still to be counted down. Changes nothing.
--
-- KEYS  latch  string: how often it is still to be counted down
-- ->    {found, count}   0 or less: open
--       {absent}         there is none
--       {foreign, kind}  something else stands there
local latch = KEYS[1]
local kind_of = include('kind_of')

local kind = kind_of(latch)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end
return {'found', tonumber(redis.call('get', latch))}
