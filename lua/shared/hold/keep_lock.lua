local keep_for = include('hold/keep_for')

-- Ends the release of the owner's last hold of a lock that stays for `rest` ms (--min-hold). others: the lock also has holds of
-- others, which may need it longer. timeout: of a read hold, see read/acquire. hold: see hold/answered_before
local function keep_lock(lock, hold, rest, others, timeout)
  redis.call('pexpire', lock, others and math.max(redis.call('pttl', lock), rest) or rest)  -- first: it needs no memory
  if timeout then redis.call('set', timeout, 1, 'px', rest) end
  return keep_for(hold, rest)
end
return keep_lock
