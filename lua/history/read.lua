-- How the last holds of a key have ended. Changes nothing, so it may be sent twice.
--
-- KEYS  history  zset: see write_end
-- ARGV  most     so many of them, >= 1
-- ->    {now, entry, ...}  the server's time, ms since the epoch; the newest first, cut where they are longer than
--                          what we write
local history, most = KEYS[1], ARGV[1]
local now = include('now')

local answer = {now()}
if redis.call('type', history).ok ~= 'zset' then return answer end
local ends = redis.call('zrange', history, -most, -1)
for i = #ends, 1, -1 do answer[#answer + 1] = string.sub(ends[i], 1, 16384) end
return answer
