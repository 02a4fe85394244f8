-- Lets the queue of a fair lock expire a day after its last deadline. A killed client, or a late call, may leave a place behind.
-- While the queue is used, other calls drop that place; otherwise it expires. It is a day because Redisson's waiters, which
-- stand in the queue, too, do not extend the TTL when they come later. All three keys end together. Without the hash, a dead
-- waiter of rlock would look like one of Redisson's, and others would wait for its deadline. That is far away if the server's
-- clock was set back.
-- queue: see mended_queue
local function end_with_last_place(queue, time)
  local last = redis.call('zrange', queue.deadlines, -1, -1, 'withscores')[2]
  local stays = math.max((tonumber(last) or time) - time, 0) + 86400000
  redis.call('pexpire', queue.order, string.format('%.0f', stays))
  redis.call('pexpire', queue.deadlines, string.format('%.0f', stays))
  redis.call('pexpire', queue.alive, string.format('%.0f', stays))
end
return end_with_last_place
