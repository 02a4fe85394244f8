-- The smallest slot from `first` on that no permit has. The function looks at 1, 2, 4 and so on slots at a time, so a row of n
-- taken slots costs 2 * log2(n) calls. slots: see mend_slots
local function free_slot(slots, first)
  local function all_taken(last) return redis.call('zcount', slots, first, last) > last - first end
  local low, step = first, 1
  while all_taken(low + step - 1) do
    low, step = low + step, step * 2
  end
  local high = low + step - 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if all_taken(middle) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end
return free_slot
