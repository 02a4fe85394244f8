-- Microseconds since the epoch, by the server's clock.
local function now_micros()
  local time = redis.call('time')
  return time[1] * 1000000 + time[2]
end
return now_micros
