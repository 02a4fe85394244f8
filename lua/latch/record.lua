-- Write down that a latch was set or opened, for clients that come when it is gone. No client reads the answer.
-- This call is sent behind latch/set and latch/down, and trusts what the server remembers of their request. It may be sent
-- twice.
--
-- KEYS  record   hash: under `latch`, {"total":n or null,"set":ms or null,"opened":ms or null}
--       request  string: `set` if latch/set has set the latch; or the count that was left after latch/down
-- ARGV  total    behind latch/set: the count that was set; else ''
--       stays    number of ms for which the record stays at least
-- ->    written
--       neither  the request has neither set nor opened the latch
local now = include('redis/now')
local field_of = include('redis/field_of')
local write_with_ttl = include('redis/write_with_ttl')

local answered = redis.call('get', request)
if not answered or (answered ~= 'set' and answered ~= '0') then return 'neither' end
local time = now()
local facts
if answered == 'set' then
  facts = '{"total":' .. total .. ',"set":' .. time .. ',"opened":null}'
else
  local before = field_of(record, 'latch', 1000) or ''
  local was, since = before:match('^{"total":(%d+),"set":(%d+),"opened":')
  facts = '{"total":' .. (was or 'null') .. ',"set":' .. (since or 'null') .. ',"opened":' .. time .. '}'
end
write_with_ttl('hset', record, math.max(redis.call('pttl', record), stays), 'latch', facts)
return 'written'
