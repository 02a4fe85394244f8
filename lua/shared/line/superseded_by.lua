local newest_of = include('line/newest_of')
local note_newest = include('line/note_newest')

-- Has a newer waiter with --newest come? If so, answers what the newer one says of itself. If not, answers nil and records
-- `owner` as the newest.
-- If the server has lost its record, this waiter is the newest again. But if it came more than a day ago, a newer one may be
-- forgotten: then this waiter counts as superseded, and the answer is ''.
-- line: see in_turn; it has a ticket
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
