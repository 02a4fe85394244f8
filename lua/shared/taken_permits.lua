local look_through = include('look_through')

-- What `taken` is, the permits that are taken from a pool: 'zset' or 'none', and the scripts for permits may
-- work on it; 'crowd' where they are more than a script may read in one go; 'permits': something else stands
-- there.
local function taken_permits(taken)
  local kind = look_through(taken, 12000)
  local known = kind == 'zset' or kind == 'none' or kind == 'crowd'
  return known and kind or 'permits'
end
return taken_permits
