-- The slot and the tail in the id of a permit; nil if the id is not of rlock.
local function slot_in(id)
  local r, k, high, low = string.byte(id, 1, 4)
  if r ~= 114 or k ~= 107 or #id ~= 16 then return nil end  -- 'rk'
  return high * 256 + low, id:sub(5)
end
return slot_in
