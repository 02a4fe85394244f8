-- The smallest slot from `first` on that no permit has; all slots below it are taken. slots: see mend_slots
local function free_slot(slots, first)
  local low, high = first, first + redis.call('zcard', slots)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if redis.call('zcount', slots, first, middle) > middle - first then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end
return free_slot
