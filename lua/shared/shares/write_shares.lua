-- Writes what read_shares reads. It stays for `lives` ms, and for an hour at least, because another process may prolong the hold
-- without it.
local function write_shares(shares, kept, more, ids, lives)
  lives = math.max(redis.call('pttl', shares), lives, 3600000)
  redis.call('pexpire', shares, lives)  -- first: it needs no memory
  redis.call('set', shares, kept .. more .. ids, 'px', lives)
end
return write_shares
