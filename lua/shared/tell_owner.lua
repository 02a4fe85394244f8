-- Sends one waiter a message on its own channel. Answers how many heard it: 0 where its connection has ended,
-- so it was killed or is cut off. Where no message may be sent: 1, and why. (In a cluster a waiter listens at
-- the node that serves its key, which runs this script: so it is counted.)
-- queue: see in_turn
local function tell_owner(queue, owner, message)
  local channel, sharded = queue.channel .. ':' .. owner, nil
  if queue.sharded == '1' then sharded = redis.pcall('spublish', channel, message) end
  local heard = redis.pcall('publish', channel, message)
  if type(heard) == 'table' then return 1, heard.err end
  return heard + (type(sharded) == 'number' and sharded or 0)
end
return tell_owner
