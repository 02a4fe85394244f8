-- See how often a latch is still to be counted down. Changes nothing.
--
-- KEYS  latch   string: how often it is still to be counted down
-- ->    {1, count}  0 or less: open
--       {0}         there is none
--       {-1, kind}  something else stands there
local latch = KEYS[1]
local kind_of = include('kind_of')

local kind = kind_of(latch)
if kind == 'none' then return {0} end
if kind ~= 'number' then return {-1, kind} end
return {1, tonumber(redis.call('get', latch))}
