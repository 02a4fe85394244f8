-- Lets the queue of a fair lock (see mended_queue for its keys) end by itself a day after its last place: a
-- place that nobody gives back, of a client that was killed or of a call that came late, stays only while
-- somebody uses the queue, and there it is dropped. A day, because Redisson's waiters, whose places stand there
-- too, do not move the end when they come later. All three end together: without the hash a dead one of ours
-- would look like Redisson's, and be awaited for as long as its deadline says, which is long where the server's
-- clock was set back.
local function end_with_last_place(queue, deadlines, waiters, time)
  local last = redis.call('zrange', deadlines, -1, -1, 'withscores')[2]
  local stays = math.max((tonumber(last) or time) - time, 0) + 86400000
  redis.call('pexpire', queue, string.format('%.0f', stays))
  redis.call('pexpire', deadlines, string.format('%.0f', stays))
  redis.call('pexpire', waiters, string.format('%.0f', stays))
end
return end_with_last_place
