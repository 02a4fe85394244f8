-- Write down that a latch was set, or opened, for who comes when it is gone. Nobody reads the answer.
-- Sent behind latch/set and latch/down, and believes the memory of their request. May be sent twice.
--
-- KEYS  record   hash: under `latch`, {"total":n or null,"set":ms or null,"opened":ms or null}
--       request  string: `set` by latch/set; what is left by latch/down
-- ARGV  total    of latch/set: how much was set; else ''
--       stays    ms that the record stays at least
-- ->    written
--       neither  the request has neither set nor opened the latch
local record, request = KEYS[1], KEYS[2]
local total, stays = ARGV[1], tonumber(ARGV[2])
local now = include('now')
local field_of = include('field_of')

local answered = redis.call('get', request)
if not answered or (answered ~= 'set' and answered ~= '0') then return 'neither' end
local time = now()
local facts
if answered == 'set' then
  facts = '{"total":' .. total .. ',"set":' .. time .. ',"opened":null}'
else
  local before = field_of(record, 'latch', 1000) or ''
  local was, since = string.match(before, '^{"total":(%d+),"set":(%d+),"opened":')
  facts = '{"total":' .. (was or 'null') .. ',"set":' .. (since or 'null') .. ',"opened":' .. time .. '}'
end
local longest = math.max(redis.call('pttl', record), stays)
-- Who may not do this must learn it before there is a hash without a TTL.
redis.call('pexpire', record, longest)
redis.call('hset', record, 'latch', facts)
redis.call('pexpire', record, longest)
return 'written'
