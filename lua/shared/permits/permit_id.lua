-- The id of a permit of rlock: 'rk', its slot in two bytes, and the tail (see tail_of).
local function permit_id(slot, tail)
  return 'rk' .. string.char(math.floor(slot / 256) % 256, slot % 256) .. tail
end
return permit_id
