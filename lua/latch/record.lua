-- Write down that a latch was set or opened, for clients that come when it is gone. No client reads the answer.
-- This call is sent behind latch/set and latch/down, and trusts what the server remembers of their request. It may be sent
-- twice, and late: a second copy writes nothing, because the latch may have been set or opened again since.
--
-- KEYS  record   hash: under `latch`, {"total":n or null,"set":ms or null,"opened":ms or null}
--       latch    string: the count that is left
--       request  string: `set` if latch/set has set the latch; or the count that was left after latch/down. ` noted` behind it:
--                it is written down
-- ARGV  total    behind latch/set: the count that was set; else ''
--       stays    number of ms for which the record stays at least
--       memory   for how many ms the server remembers the request
-- ->    written
--       neither  the request has neither set nor opened the latch, or the latch is not as it left it
-- If the first copy was lost and the latch was set again and is gone, too, the note says what this request did last.
local now = include('redis/now')
local field_of = include('redis/field_of')
local write_with_ttl = include('redis/write_with_ttl')

local answered = redis.call('get', request)
if answered == 'set noted' or answered == '0 noted' then return 'written' end
local is_there = answered == 'set'
if not is_there and answered ~= '0' then return 'neither' end
if (redis.call('exists', latch) == 1) ~= is_there then return 'neither' end
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
redis.call('set', request, answered .. ' noted', 'px', memory)
return 'written'
