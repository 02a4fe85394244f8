local no_lease = include('permits/no_lease')

-- In how many ms the lease of a permit ends; -1: it has none. Nil if the permit is not taken, or its lease has ended.
-- taken: zset id -> end of its lease; time: ms since the epoch
local function rest_of_permit(taken, id, time)
  local score = tonumber(redis.call('zscore', taken, id) or 0)
  if score <= time then return nil end
  return score >= no_lease and -1 or score - time
end
return rest_of_permit
