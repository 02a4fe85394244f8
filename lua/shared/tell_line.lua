local tell_each = include('tell_each')

-- Tells all who wait in the line, or a thousand of them, that it is worth asking again. Comes last in a script and never
-- fails. queue: see in_turn
local function tell_line(queue)
  pcall(function() tell_each(queue, redis.call('zrange', queue.line, 0, 999)) end)
end
return tell_line
