local room_of = include('line/room_of')
local give_up_place = include('line/give_up_place')
local tell_waiters = include('line/tell_waiters')

-- After a release: tells the waiters whose turn it is now. If the answer of the release is 'not_ours', as after the undo of an
-- acquire that acquired nothing, gives up the place of `owner` instead. If that place is of another acquire, the answer has a
-- second value, and the place stays. Answers `answer`, with the reason if a waiter could not be told. Without a line it asks for
-- nothing: while its slot moves, a node of a cluster refuses to tell about a key that it has just deleted.
-- line: see in_turn
local function pass_on(line, lock, owner, answer)
  if not line.order then return answer end
  if answer[1] == 'not_ours' and not answer[2] then give_up_place(line, lock, owner) end
  if answer[1] ~= 'released' then return answer end
  local why = tell_waiters(line, room_of(lock))
  return answer[2] == '' and {'released', why} or answer
end
return pass_on
