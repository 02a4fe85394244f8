local remove_waiter = include('line/remove_waiter')
local tell_owner = include('line/tell_owner')

-- Removes a waiter that gives no more signs of life, or has no notes. The notes may have been lost, so the waiter is told to
-- ask again. line: see in_turn
local function remove_dead(line, owner)
  tell_owner(line, owner, '0')
  remove_waiter(line, owner)
end
return remove_dead
