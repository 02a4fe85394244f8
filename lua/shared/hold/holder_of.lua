local owner_in = include('hold/owner_in')

-- One of the owners in `lock`, a hash with at least one field. Wait lines show this owner as the holder. The hash may be large,
-- so the function reads only about a hundred fields; '' if it finds no owner there.
local function holder_of(lock)
  local fields = redis.call('hscan', lock, '0', 'count', '100')[2]
  for i = 1, #fields, 2 do
    local owner = owner_in(fields[i])
    if owner ~= 'mode' then return owner:sub(1, 1000) end
  end
  return ''
end
return holder_of
