-- Read how the last holds of a key have ended. This script changes nothing, so it may be sent twice.
--
-- KEYS  history  zset: see hold/write_end
-- ARGV  most     read at most this many, at least 1
-- ->    {now, entry, ...}  now is the server's time in ms since the epoch. The newest entry is the first; an entry that is
--                          longer than what rlock writes is cut
local now = include('redis/now')

local answer = {now()}
if redis.call('type', history).ok ~= 'zset' then return answer end
local ends = redis.call('zrange', history, -most, -1)
for i = #ends, 1, -1 do answer[#answer + 1] = ends[i]:sub(1, 16384) end
return answer
