-- Ask whether an owner has permits of a pool, for a hold inside its hold. The inner hold uses the permits of the outer one:
-- only their lease grows.
-- This call may be sent twice.
--
-- KEYS  pool   string: the number of permits that are available
--       taken  zset: id (16 bytes) -> end of its lease, in ms since the epoch, server time
--       slots  zset: see permits/mend_slots
-- ARGV  owner  the owner that asks
--       count  number of permits that it must have
--       lease  number of milliseconds for which the inner hold needs them, which never shortens a lease; 0: it is over, the
--              call only asks
-- ->    {held, now, id, ...}  the owner has them. now is the server's time in ms since the epoch
--       {not_ours}            the owner does not have them
--       CROWD, an error       more permits are taken than a script may read
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local taken_permits = include('permits/taken_permits')
local permits_of = include('permits/permits_of')

local kind_taken = taken_permits(taken)
if kind_taken == 'crowd' then return redis.error_reply('CROWD') end
if kind_of(pool) ~= 'number' or kind_taken ~= 'zset' then return {'not_ours'} end
local time = now()
local ours = permits_of(owner, count, taken, slots)
for i = 1, count do
  if not ours[i] or tonumber(redis.call('zscore', taken, ours[i])) <= time then return {'not_ours'} end
end
if lease > 0 then
  redis.call('zrem', taken, '')  -- it removes nothing; but behind it Redis allows writes without memory left
  for i = 1, count do
    local ends = math.max(tonumber(redis.call('zscore', taken, ours[i])), time + lease)
    redis.call('zadd', taken, ends, ours[i])
  end
end
local answer = {'held', time}
for i = 1, count do answer[i + 2] = ours[i] end
return answer
