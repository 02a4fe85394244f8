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
    if redis.call('exists', line.order) == 1 and line.waited ~= 0 then  -- it may have been frozen: see remove_waiter
      redis.call('hdel', line.waiters, owner)
      redis.call('hdel', line.facts, owner)
    elseif (line.waited or -1) > 0 then
      -- The owner has waited, but its line was lost. The other waiters have not noticed that, so they are told to ask again.
      tell_owner(line, '', '0')
    end
    return false
  end
  local ahead = redis.call('zcount', line.order, '-inf', '(' .. arrived)
  remove_waiter(line, owner)
  tell_places(line, ahead + 1, 2, rest)
  return true
end
return leave_line
