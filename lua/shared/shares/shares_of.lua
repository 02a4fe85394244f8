local acquire_of = include('shares/acquire_of')

-- The key of the shares (see read_shares) of the hold that `request` has acquired: it stands beside the key of that acquire.
-- entry: how the lock names the hold, see hold/answered_before
local function shares_of(request, entry)
  return acquire_of(request):gsub('[^:]*$', 'of:', 1) .. entry
end
return shares_of
