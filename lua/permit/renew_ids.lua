-- Start the leases of permits anew by their ids, no matter who acquired them.
-- This call may be sent twice.
--
-- KEYS  pool    string: the number of permits that are available
--       taken   zset: id (16 bytes) -> end of its lease, in ms since the epoch
--       slots   zset: see permits/mend_slots
-- ARGV  lease   number of milliseconds; 0: the permits get no lease, and stay taken until they are released
--       ids...  16 bytes each
-- ->    {1 or 0, ...}  for each id: 1 if it was renewed, 0 if it is not taken, or its lease has ended
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local lives_for = include('redis/lives_for')
local no_lease = include('permits/no_lease')

local readable = kind_of(pool) == 'number' and redis.call('type', taken).ok == 'zset'
if readable then
  redis.call('zrem', taken, '')  -- first: it needs no memory, and removes nothing
  lives_for(slots, lease)
end
local time = now()
local ends_at = lease > 0 and time + lease or no_lease
local answer = {}
for i, id in ipairs(ids) do
  local ends = readable and redis.call('zscore', taken, id)
  answer[i] = 0
  if ends and tonumber(ends) > time then
    redis.call('zadd', taken, ends_at, id)
    answer[i] = 1
  end
end
return answer
