local tell_each = include('line/tell_each')

-- Tells the waiters in the line, at most the first thousand, to ask again. A script calls it last. It never fails.
-- line: see in_turn
local function tell_all(line)
  pcall(function() tell_each(line, redis.call('zrange', line.order, 0, 999)) end)
end
return tell_all
