-- See which of some keys hold a number: a semaphore, a pool of permits or a latch, perhaps. Changes nothing.
--
-- KEYS  key...
-- ->    {1 or 0, ...}  for each key
local kind_of = include('kind_of')

local numbers = {}
for i, key in ipairs(KEYS) do numbers[i] = kind_of(key) == 'number' and 1 or 0 end
return numbers
