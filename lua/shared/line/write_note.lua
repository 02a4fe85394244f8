local write_with_ttl = include('redis/write_with_ttl')

-- Stores the note of a waiter (see waiter_of), or, with owner '', the note of the line itself (see load_line). REQUIRES: the
-- line has a waiter. The notes expire with the line, even if they were lost before and this call creates them again.
-- line: see in_turn
local function write_note(line, owner, waiter)
  local text = string.format('%d %.0f', line.passes, line.others)
  if waiter then
    text = string.format('%.0f %s %d %.0f %d', waiter.alive, waiter.arrived, waiter.needs, waiter.told, waiter.before)
    if waiter.far then text = text .. ' far' end
  end
  if redis.call('pttl', line.waiters) < 0 then
    write_with_ttl('hset', line.waiters, math.max(redis.call('pttl', line.order), 1000), owner, text)
  else
    redis.call('hset', line.waiters, owner, text)
  end
end
return write_note
