-- Writes down `line.newest`, see newest_of, for a day. line: see in_turn
local function note_newest(line)
  local newest, day = line.newest, 86400000
  redis.call('pexpire', line.waiters, day)  -- first: a client that may not PEXPIRE leaves no key without a TTL
  redis.call('hset', line.waiters, ' newest', string.format('%.0f %s %d %s\n%s', newest.ticket, newest.arrived, newest.before,
    newest.owner, newest.who))
  redis.call('pexpire', line.waiters, day)
end
return note_newest
