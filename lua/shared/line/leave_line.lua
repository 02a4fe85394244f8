local tell_owner = include('line/tell_owner')
local remove_waiter = include('line/remove_waiter')
local tell_places = include('line/tell_places')

-- Removes `owner` from the line, and answers whether it was there. If a waiter becomes first or second by that, it is told its
-- place and `rest` (see tell_places). The first two waiters listen to the releases of other clients, too.
-- line: see in_turn
local function leave_line(line, owner, rest)
  if not line.order then return false end
  local arrived = redis.call('zscore', line.order, owner)
  if not arrived then
    -- The owner has waited, but its line was lost. The other waiters have not noticed that, so they are told to ask again.
    if (line.waited or -1) > 0 and redis.call('exists', line.order) == 0 then tell_owner(line, '', '0') end
    return false
  end
  local ahead = redis.call('zcount', line.order, '-inf', '(' .. arrived)
  remove_waiter(line, owner)
  tell_places(line, ahead + 1, 2, rest)
  return true
end
return leave_line
