local tail_of = include('tail_of')
local permit_id = include('permit_id')
local slot_in = include('slot_in')

-- The permits of an owner among those that are taken, {[i] = id}, i from 1 to count; and {tail, ...}, what the ids
-- of the owner end with.
-- taken: zset id -> end of its lease (ms since the epoch), of which taken_permits() says that it can be read;
-- slots: see mend_slots. Where it is missing all permits are read.
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
