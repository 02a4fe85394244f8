local leave_line = include('leave_line')
local room_of = include('room_of')
local tell_waiters = include('tell_waiters')

-- Gives up the place of `owner` in the line of `lock`, if it has one. It may have been told that it is its
-- turn, so the next is told in its place. Never fails.
-- queue: see in_turn
local function leave_place(queue, lock, owner)
  local done, left = pcall(leave_line, queue, owner, redis.call('pttl', lock))
  if done and left then tell_waiters(queue, room_of(lock)) end
end
return leave_place
