-- The permits of an owner among those that are taken, {[i] = id}, i from 1 to count; {[slot] = true} of all permits of
-- rlock; and {tail, ...}, what the ids of the owner end with. An id of rlock is 'rk', its slot in two bytes, and 12
-- bytes made from the owner: so a repeated question finds what its first copy took, and slots need no key of their own.
-- taken: zset id -> end of its lease (ms since the epoch)
local function permits_of(owner, count, taken)
  local tails, index = {}, {}
  for i = 1, count do
    local hex = string.sub(redis.sha1hex(owner .. ':' .. i), 1, 24)
    tails[i] = string.gsub(hex, '..', function(byte) return string.char(tonumber(byte, 16)) end)
    index[tails[i]] = i
  end

  local ours, slots = {}, {}
  for _, id in ipairs(redis.call('zrange', taken, 0, -1)) do
    if #id == 16 and string.sub(id, 1, 2) == 'rk' then
      local i = index[string.sub(id, 5)]
      if i then ours[i] = id end
      slots[string.byte(id, 3) * 256 + string.byte(id, 4)] = true
    end
  end
  return ours, slots, tails
end
return permits_of
