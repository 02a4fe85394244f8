-- Milliseconds since the epoch, by the server's clock.
local function now()
  local time = redis.call('time')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
return now
