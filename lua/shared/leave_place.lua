local leave_line = include('leave_line')
local room_of = include('room_of')
local tell_waiters = include('tell_waiters')
local tell_owner = include('tell_owner')

-- Gives up the place of `owner` in the line of `lock`, if it has one. It may have been told that it is its
-- turn, so the next is told in its place. While the lock is free, who becomes second asks soon, in case that
-- the first is frozen. Never fails.
-- queue: see in_turn
local function leave_place(queue, lock, owner)
  local rest = redis.call('pttl', lock)
  if rest == -2 then rest = 0 end
  local done, left = pcall(leave_line, queue, owner, rest)
  if not done or not left then return end
  tell_owner(queue, owner, '0')  -- another process may wait as the same owner: it asks for its place again
  tell_waiters(queue, room_of(lock))
end
return leave_place
