-- Writes the grants (see note_grant). They stay for an hour at least, because another process may prolong the hold without them.
-- lives: for how many ms they must stay
local function write_grants(grants, text, lives)
  lives = math.max(redis.call('pttl', grants), lives, 3600000)
  redis.call('pexpire', grants, lives)  -- first: it needs no memory
  redis.call('set', grants, text, 'px', lives)
end
return write_grants
