local field_of = include('redis/field_of')

-- The newest waiter of those with --newest. It stands in the hash of the waiters under a name that no owner has, and is read once
-- in a script. Its ticket is 0 if no such waiter has come, or if all were silent for a day.
--   ticket  the larger one is newer, in microseconds since the epoch
--   arrived, before
--           the place that it takes over from the newest waiter before it, as in waiter_of. 0: none
--   owner   the owner that it waits as; '': it has taken neither a place nor the lock yet
--   who     the waiter's facts, for people
-- line: see in_turn
local function newest_of(line)
  if line.newest then return line.newest end
  local text = field_of(line.waiters, ' newest', 2000) or ''
  local ticket, arrived, before, owner, who = text:match('^(%d+) (%d+) (%d+) ([^\n]*)\n(.*)$')
  line.newest = {
    ticket = tonumber(ticket or 0), arrived = arrived or '0', before = tonumber(before or 0), owner = owner or '',
    who = who or '',
  }
  return line.newest
end
return newest_of
