local look_through = include('redis/look_through')

-- What `taken`, the permits that are taken from a pool, holds: 'zset' or 'none': the scripts for permits may work on it;
-- 'crowd': they are more than a script may read in one go; 'permits': it holds something else.
local function taken_permits(taken)
  local kind = look_through(taken, 12000)
  local known = kind == 'zset' or kind == 'none' or kind == 'crowd'
  return known and kind or 'permits'
end
return taken_permits
