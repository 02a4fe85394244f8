-- Let the leases of permits start anew, by their ids, whoever took them.
-- May be sent twice.
--
-- KEYS  pool     string: how many permits are available
--       taken    zset: id (16 bytes) -> end of its lease (ms since the epoch)
-- ARGV  lease    milliseconds, >= 1
--       id, ...  16 bytes each
-- ->    {1 or 0, ...}  for each id: done, or its lease has ended
local pool, taken = KEYS[1], KEYS[2]
local lease = tonumber(ARGV[1])
local kind_of = include('kind_of')
local now = include('now')

local readable = kind_of(pool) == 'number' and redis.call('type', taken).ok == 'zset'
-- Removes nothing; but behind it writes are let through when memory is short.
if readable then redis.call('zrem', taken, '') end
local time = now()
local answer = {}
for i = 2, #ARGV do
  local ends = readable and redis.call('zscore', taken, ARGV[i])
  answer[i - 1] = 0
  if ends and tonumber(ends) > time then
    redis.call('zadd', taken, time + lease, ARGV[i])
    answer[i - 1] = 1
  end
end
return answer
