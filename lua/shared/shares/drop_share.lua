local acquire_of = include('shares/acquire_of')
local read_shares = include('shares/read_shares')
local write_shares = include('shares/write_shares')

-- Takes the acquire of `request` out of the shares, because its hold is released or undone.
-- shares: optional, see read_shares. memory: for how many ms the server remembers that the acquire is undone
-- -> do other acquires share the hold? Then it goes on. Did this one? If it did: does the lock stay, shared or kept?
local function drop_share(shares, request, memory)
  local kept, more, ids = read_shares(shares)
  if not ids then return false end
  local acquire, id = acquire_of(request)
  local left, found = ids:gsub(id, '')
  if found > 0 then
    write_shares(shares, kept, more, left, memory)
    redis.call('set', acquire, 'undone', 'px', memory)  -- a late copy of the acquire must not share the hold again
  end
  return more .. left ~= '', found > 0, kept .. more .. left ~= ''
end
return drop_share
