local acquire_of = include('shares/acquire_of')
local read_shares = include('shares/read_shares')
local write_shares = include('shares/write_shares')

-- Notes that the acquire of `request` shares its owner's present hold. The newest acquire before it counts as undone from now on,
-- so that a late copy of it acquires nothing.
-- shares: see read_shares. memory: for how many ms the server remembers both
-- anew: the owner had no outer hold before
local function add_share(shares, request, memory, anew)
  local kept, more, ids = read_shares(shares)
  local acquire, id = acquire_of(request)
  local newest = (ids or ''):sub(-#id)
  if newest ~= '' and newest ~= id then
    redis.call('set', acquire:sub(1, -#id - 1) .. newest, 'undone', 'px', memory)
  end
  if anew or not ids then kept, more, ids = '', anew and '' or 'x', '' end
  if not ids:find(id) then
    if #ids > 3200 then more, ids = 'x', ids:sub(-3136) end
    ids = ids .. id
  end
  write_shares(shares, kept, more, ids, memory)
end
return add_share
