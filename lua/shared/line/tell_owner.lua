-- Sends one waiter a message on its own channel. Answers how many clients heard it; 0: its connection has ended, so it was
-- killed or is cut off. If the server allows no message, answers 1 and the reason. (In a cluster a waiter listens at the node
-- that serves its key. That node runs this script, so the waiter is counted.)
-- line: see in_turn
local function tell_owner(line, owner, message)
  local channel, sharded = line.channel .. ':' .. owner, nil
  if line.sharded == '1' then sharded = redis.pcall('spublish', channel, message) end
  local heard = redis.pcall('publish', channel, message)
  if type(heard) == 'table' then return 1, heard.err end
  return heard + (type(sharded) == 'number' and sharded or 0)
end
return tell_owner
