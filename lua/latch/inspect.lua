-- Ask whether a latch is open. This script changes nothing.
--
-- KEYS  latch   string: the count that is left
--       record  optional, hash: under `latch`, what rlock knows of it
-- ->    {open, now}      there is no latch, or its count is zero. With a record: the record says that it was opened
--       {closed, ttl}    the latch expires in this many ms; -1: never
--       {absent}         only with a record: there is no latch, and no record says that it was opened
--       {foreign, kind}  the key holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local field_of = include('redis/field_of')

local kind = kind_of(latch)
if kind == 'number' and tonumber(redis.call('get', latch)) > 0 then
  return {'closed', redis.call('pttl', latch)}
end
if kind ~= 'none' and kind ~= 'number' then return {'foreign', kind} end
if kind == 'number' or not record then return {'open', now()} end
local written = field_of(record, 'latch', 1000)
if written and string.find(written, '"opened":%d') then return {'open', now()} end
return {'absent'}
