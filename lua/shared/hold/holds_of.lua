local field_of = include('redis/field_of')

-- The number of holds in a field of a hash; nil: there are none, or the field is no number.
local function holds_of(lock, field)
  return tonumber((field_of(lock, field, 15) or ''):match('^[1-9]%d*$'))
end
return holds_of
