local grants_of = include('hold/grants_of')
local write_grants = include('hold/write_grants')

-- Notes that no acquire shares the owner's hold any more, because the lock is only kept (--min-hold) for `rest` ms. An acquire
-- that is undone must leave it.
-- request: optional, the key of the acquire or of its release. entry: see answered_before
local function nothing_shares(request, entry, rest)
  local grants = request and grants_of(request:gsub(':released$', ''), entry)
  if grants and redis.call('exists', grants) == 1 then write_grants(grants, ' ', rest) end
end
return nothing_shares
