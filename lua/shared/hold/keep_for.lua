local shares_of = include('shares/shares_of')
local read_shares = include('shares/read_shares')
local write_shares = include('shares/write_shares')
local remember = include('hold/remember')

-- Ends a release after which the lock is only kept (--min-hold) for `rest` ms. Nothing shares the hold any more, and an acquire
-- that is undone must leave the lock. hold: see hold/answered_before
local function keep_for(hold, rest)
  local shares = hold.request and shares_of(hold.request, hold.entry)
  if read_shares(shares) then write_shares(shares, ' ', '', '', rest) end
  remember(hold, 0)
  return {'kept', rest}
end
return keep_for
