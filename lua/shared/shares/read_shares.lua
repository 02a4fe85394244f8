-- Two scripts may give themselves the same owner. Then they share one hold, and the last of them to release it ends it. The
-- server keeps the acquires that share the present hold of an owner in a string beside the lock. Only this file and write_shares
-- know the form of that string.
-- shares: optional, the key of the string
-- -> nil if the server knows nothing about this owner's hold, else three strings:
--    kept  ' ': the lock was only kept (--min-hold) when the oldest of these acquires came, so an undo must leave it; else ''
--    more  'x': other acquires may share the hold, too, because it is older than the string, or they are too many; else ''
--    ids   the acquires that are known, 32 digits each, the newest at the end
local function read_shares(shares)
  local text = shares and redis.call('get', shares)
  if text then return text:match('^( ?)(x?)(.*)') end
end
return read_shares
