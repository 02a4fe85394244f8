local leave_line = include('line/leave_line')
local room_of = include('line/room_of')
local tell_waiters = include('line/tell_waiters')
local tell_owner = include('line/tell_owner')

-- Gives up the place of `owner` in the line of `lock`, if the owner has one. The owner may have been told of its turn, so the
-- next waiter is told instead. While the lock is free, the new second waiter asks soon, in case the first is frozen. This
-- function never fails.
-- line: see in_turn
local function give_up_place(line, lock, owner)
  local rest = redis.call('pttl', lock)
  if rest == -2 then rest = 0 end
  local done, left = pcall(leave_line, line, owner, rest)
  if not done or not left then return end
  tell_owner(line, owner, '0')  -- another process may wait as the same owner: it asks for its place again
  tell_waiters(line, room_of(lock))
end
return give_up_place
