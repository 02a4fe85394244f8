-- See whether a latch is open. Changes nothing.
--
-- KEYS  latch   string: how often it is still to be counted down
--       record  optional, hash: under `latch`, what rlock knows about it
-- ->    {open, now}      there is none, or it has nothing to count. With a record: it is written that it was
--                        opened
--       {closed, ttl}    it is forgotten in so many ms (-1: never)
--       {absent}         with a record: there is none, and nobody has written that it was opened
--       {foreign, kind}  something else stands there
local latch, record = KEYS[1], KEYS[2]
local kind_of = include('kind_of')
local now = include('now')
local field_of = include('field_of')

local kind = kind_of(latch)
if kind == 'number' and tonumber(redis.call('get', latch)) > 0 then
  return {'closed', redis.call('pttl', latch)}
end
if kind ~= 'none' and kind ~= 'number' then return {'foreign', kind} end
if kind == 'number' or not record then return {'open', now()} end
local written = field_of(record, 'latch', 1000)
if written and string.find(written, '"opened":%d') then return {'open', now()} end
return {'absent'}
