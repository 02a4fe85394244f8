local announce = include('redis/announce')
local first_reason = include('redis/first_reason')
local tell_waiters = include('line/tell_waiters')

-- Announces on the channel how many permits are available now, as Redisson does, and tells the waiters whose turn it is. It
-- announces no number below 1: 0 wakes none of Redisson's waiters, and a negative number is an error to them. A script calls it
-- last. It never fails: it answers why waiters could not be told, or ''.
-- line: see line/in_turn
local function announce_permits(line, available)
  if available < 1 then return '' end
  local why = announce(line.channel, available, line.sharded, line)
  return first_reason(why, tell_waiters(line, available))
end
return announce_permits
