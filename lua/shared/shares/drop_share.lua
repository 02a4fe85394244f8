local acquire_of = include('shares/acquire_of')
local read_shares = include('shares/read_shares')
local write_shares = include('shares/write_shares')

-- Takes the acquire of `request` out of the shares, because its hold is released or undone.
-- shares: optional, see read_shares. memory: for how many ms the server remembers that the acquire is undone
-- Answers false if the server does not know who shares the hold, else three values:
--   whether other acquires share the hold, so that it goes on
--   whether this acquire shared it
--   whether the lock stays: other acquires share the hold, or the lock is kept (--min-hold)
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
