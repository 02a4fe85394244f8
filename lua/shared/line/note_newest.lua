local write_with_ttl = include('redis/write_with_ttl')

-- Writes down `line.newest`, see newest_of, for a day. line: see in_turn
local function note_newest(line)
  local newest = line.newest
  local note = string.format('%.0f %s %d %s\n%s', newest.ticket, newest.arrived, newest.before, newest.owner, newest.who)
  write_with_ttl('hset', line.waiters, 86400000, ' newest', note)
end
return note_newest
