local tail_of = include('permits/tail_of')
local permit_id = include('permits/permit_id')
local slot_in = include('permits/slot_in')

-- The permits of an owner that are taken, {[i] = id}, i from 1 to count; and {tail, ...}, the last bytes of their ids.
-- taken: zset id -> end of its lease, in ms since the epoch; taken_permits() has said that it can be read. slots: see
-- mend_slots; if it is missing, the function reads all permits.
local function permits_of(owner, count, taken, slots)
  local ours, tails, index = {}, {}, {}
  for i = 1, count do
    tails[i] = tail_of(owner, i)
    index[tails[i]] = i
  end
  if redis.call('type', slots).ok == 'zset' then
    for i = 1, count do
      local slot = redis.call('zscore', slots, tails[i])
      local id = slot and permit_id(tonumber(slot), tails[i])
      if id and redis.call('zscore', taken, id) then ours[i] = id end
    end
    return ours, tails
  end
  for _, id in ipairs(redis.call('zrange', taken, 0, -1)) do
    local slot, tail = slot_in(id)
    if slot and index[tail] then ours[index[tail]] = id end
  end
  return ours, tails
end
return permits_of
