-- Read what holders have written down about themselves. This script changes nothing.
--
-- KEYS  meta  hash: owner -> JSON
--       lock  the key that they hold. If there are too many facts, the script reads those of the present holders only
-- ARGV  wanted...  the holders whose facts are read first
-- ->    {owner, JSON, ...}. One of the owners is `latch` if rlock has made a latch
local field_of = include('redis/field_of')
local owner_in = include('hold/owner_in')

-- The fields of a hash, if they are no more than `most`.
local function few_fields(key, most)
  if redis.call('type', key).ok ~= 'hash' or redis.call('hlen', key) > most then return nil end
  return redis.call('hkeys', key)
end

-- Some of the very many fields of a hash: about as many as inspect/key reads.
local function some_fields(key)
  local some, names = 1000, {}
  if redis.call('type', key).ok ~= 'hash' then return names end
  local page = redis.call('hscan', key, '0', 'count', some)[2]
  for i = 1, math.min(#page, 2 * some), 2 do names[#names + 1] = page[i] end
  return names
end

local names = few_fields(meta, 5000)
if not names then
  if redis.call('type', meta).ok ~= 'hash' then return {} end
  names = few_fields(lock, 1000) or some_fields(lock)
  names[#names + 1] = 'latch'
end
for _, owner in ipairs(wanted) do table.insert(names, 1, owner) end
local answer, size = {}, 0
for i = 1, #names do
  local owner = owner_in(names[i])
  local facts = field_of(meta, owner, 65536)
  size = size + (facts and #facts or 0)
  if size > 3000000 then break end  -- the client refuses a much larger reply
  if facts then
    answer[#answer + 1] = owner
    answer[#answer + 1] = facts
  end
end
return answer
