-- The line of waiters whose three keys begin at `KEYS[first]`, for in_turn and its like; see there.
local function queue_at(KEYS, first, channel, sharded, waited)
  return {
    line = KEYS[first], waiters = KEYS[first + 1], facts = KEYS[first + 2],
    channel = channel, sharded = sharded, waited = waited,
  }
end
return queue_at
