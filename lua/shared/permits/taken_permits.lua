local look_through = include('redis/look_through')

-- The type of `taken`, the permits that are taken from a pool:
--   zset, none  the scripts for permits can use it
--   too_many    it has more permits than a script may read in one go
--   permits     it has another type
local function taken_permits(taken)
  local kind = look_through(taken, 12000)
  local known = kind == 'zset' or kind == 'none' or kind == 'too_many'
  return known and kind or 'permits'
end
return taken_permits
