-- See whether an owner has permits of a pool, for a hold inside its hold. The permits are those of the outer
-- hold: only their lease grows.
-- May be sent twice.
--
-- KEYS  pool   string: how many permits are available
--       taken  zset: id (16 bytes) -> end of its lease (ms since the epoch, server time)
--       slots  zset: see mend_slots
-- ARGV  owner  who asks
--       count  how many it must have
--       lease  milliseconds that they are needed for, which never shortens what they have; 0: it is only
--              looked
-- ->    {held, now, id, ...}  it has; now is the server's time in ms since the epoch
--       {not_ours}            it has not
--       CROWD, an error       more are taken than can be looked at
local pool, taken, slots = KEYS[1], KEYS[2], KEYS[3]
local owner, count, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local kind_of = include('kind_of')
local now = include('now')
local taken_permits = include('taken_permits')
local permits_of = include('permits_of')

local kind_taken = taken_permits(taken)
if kind_taken == 'crowd' then return redis.error_reply('CROWD') end
if kind_of(pool) ~= 'number' or kind_taken ~= 'zset' then return {'not_ours'} end
local time = now()
local ours = permits_of(owner, count, taken, slots)
for i = 1, count do
  if not ours[i] or tonumber(redis.call('zscore', taken, ours[i])) <= time then return {'not_ours'} end
end
if lease > 0 then
  redis.call('zrem', taken, '')  -- nothing; but behind it writes are let through when memory is short
  for i = 1, count do
    local ends = math.max(tonumber(redis.call('zscore', taken, ours[i])), time + lease)
    redis.call('zadd', taken, ends, ours[i])
  end
end
local answer = {'held', time}
for i = 1, count do answer[i + 2] = ours[i] end
return answer
