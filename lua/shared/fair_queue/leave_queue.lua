-- Removes an owner from the queue of a fair lock, and answers whether it was the head. queue: see mended_queue
local function leave_queue(queue, owner)
  local was_head = redis.pcall('lindex', queue.order, 0) == owner
  redis.pcall('hdel', queue.alive, owner)  -- pcall: if one key has another type, the place in the others is removed
  redis.pcall('zrem', queue.deadlines, owner)
  redis.pcall('lrem', queue.order, 0, owner)
  return was_head
end
return leave_queue
