local newest_of = include('line/newest_of')
local note_newest = include('line/note_newest')

-- Has a newer waiter come than this one, which has a ticket? Answers what the newer one says of itself; or nil, and then `owner`
-- is known as the newest.
-- The server may have lost what it knew. Then this waiter is the newest until a newer one asks. But if it was silent for longer
-- than the server remembers, it may have missed a newer one, and counts as superseded: the answer is ''.
-- line: see in_turn
local function superseded_by(line, owner, time)
  local newest = newest_of(line)
  if newest.ticket > line.ticket then return newest.who end
  if newest.ticket == 0 and time - line.ticket / 1000 > 86400000 then return '' end
  if newest.ticket < line.ticket then line.newest = {ticket = line.ticket, arrived = '0', before = 0, who = ''} end
  line.newest.owner = owner
  note_newest(line)
  return nil
end
return superseded_by
