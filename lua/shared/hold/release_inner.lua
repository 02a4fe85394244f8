-- Does another hold of the same owner go on after this release? This is for holds that the lock itself does not count. A token
-- has no count, and an inner hold uses the permits of the outer one.
-- inner: zset of one owner: request of an inner hold -> end of its lease, in ms since the epoch.
--        If the outer hold ends first, the zset also has `over` -> minus the number of permits of the outer hold.
--        The acquires that share the outer hold may have asked for different numbers. `most` -> minus the largest of them
--
-- ended: the request of the inner hold that is released; nil: the outer hold is released
-- count: the number of permits of this hold
-- -> true if another hold goes on; else false and the number of permits to release. If the outer hold was released before, its
--    permits are among them
local function release_inner(inner, ended, count, time)
  if not inner or redis.call('type', inner).ok ~= 'zset' then return ended ~= nil, count end
  redis.call('zremrangebyscore', inner, 0, time)
  if ended then redis.call('zrem', inner, ended) else count = math.max(count, -(redis.call('zscore', inner, 'most') or 0)) end
  local goes_on = redis.call('zcount', inner, 0, '+inf') > 0
  if goes_on and not ended then redis.call('zadd', inner, -count, 'over') end
  local over = tonumber(redis.call('zscore', inner, 'over') or nil)
  if goes_on or (ended and not over) then return true, count end
  redis.call('del', inner)
  return false, over and math.max(-over, count) or count
end
return release_inner
