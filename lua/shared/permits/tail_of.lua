-- The last 12 bytes of the id of an owner's permit. They depend only on the owner and on the number of the permit, counted
-- from 1. So a second copy of a call finds what the first one acquired.
local function tail_of(owner, number)
  local digits = redis.sha1hex(owner .. ':' .. number):sub(1, 24)
  return (digits:gsub('..', function(byte) return string.char(tonumber(byte, 16)) end))
end
return tail_of
