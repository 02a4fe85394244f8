-- The permits of an owner among those that are taken, {[i] = id}, i from 1 to count; {[slot] = true} of all
-- permits of rlock; and {tail, ...}, what the ids of the owner end with. An id of rlock is 'rk', its slot in
-- two bytes, and 12 bytes made from the owner: so a repeated question finds what its first copy took, and
-- slots need no key of their own.
-- taken: zset id -> end of its lease (ms since the epoch), of which taken_permits() says that it can be read
local function permits_of(owner, count, taken)
  local bytes, tails, index = {}, {}, {}
  for byte = 0, 255 do bytes[string.format('%02x', byte)] = string.char(byte) end
  for i = 1, count do
    tails[i] = string.gsub(string.sub(redis.sha1hex(owner .. ':' .. i), 1, 24), '..', bytes)
    index[tails[i]] = i
  end

  local ours, slots = {}, {}
  local ids = redis.call('zrange', taken, 0, -1)
  for place = 1, #ids do
    local id = ids[place]
    local r, k, high, low = string.byte(id, 1, 4)
    if r == 114 and k == 107 and #id == 16 then  -- 'rk'
      local i = index[string.sub(id, 5)]
      if i then ours[i] = id end
      slots[high * 256 + low] = true
    end
  end
  return ours, slots, tails
end
return permits_of
