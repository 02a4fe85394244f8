-- Notes that no acquire shares the owner's hold any more, because the lock is only kept (--min-hold). The next acquire begins
-- anew.
-- request, entry: as in answered_before
local function nothing_shares(request, entry)
  local grants = request and request:gsub(':released$', ''):gsub('[^:]*$', 'of:', 1) .. entry
  if grants and redis.call('exists', grants) == 1 then redis.call('set', grants, ' ', 'px', redis.call('pttl', grants)) end
end
return nothing_shares
