-- Notes that no acquire shares the owner's hold any more, because the lock is only kept (--min-hold) for `rest` ms. An acquire
-- that is undone must leave it.
-- request, entry: as in answered_before
local function nothing_shares(request, entry, rest)
  local grants = request and request:gsub(':released$', ''):gsub('[^:]*$', 'of:', 1) .. entry
  if grants and redis.call('exists', grants) == 1 then
    redis.call('set', grants, ' ', 'px', math.max(redis.call('pttl', grants), rest))
  end
end
return nothing_shares
