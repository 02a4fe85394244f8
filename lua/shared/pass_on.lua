local room_of = include('room_of')
local leave_place = include('leave_place')
local tell_waiters = include('tell_waiters')

-- After a lock was given back: tells those in the line whose turn it is now. After the undo of an acquire that
-- took nothing: gives up the place that it took instead. `answer`: that of the release, which this answers too.
-- queue: see in_turn
local function pass_on(queue, lock, owner, answer)
  if answer[1] == 'not_ours' then leave_place(queue, lock, owner) end
  if answer[1] ~= 'released' then return answer end
  local why = tell_waiters(queue, room_of(lock))
  return answer[2] == '' and {'released', why} or answer
end
return pass_on
