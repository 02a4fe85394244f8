-- What the id of an owner's permit ends with, its last 12 bytes: made from the owner and the number of the permit
-- (from 1), so a repeated question finds what its first copy took.
local function tail_of(owner, number)
  local function byte(digits) return string.char(tonumber(digits, 16)) end
  return (string.gsub(string.sub(redis.sha1hex(owner .. ':' .. number), 1, 24), '..', byte))
end
return tail_of
