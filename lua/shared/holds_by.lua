-- Does what stands under `held` show that somebody holds? The evidence is its value (a string), a field (a
-- hash), a member or the owner of permits (a zset). Who reads and writes has two fields of a read/write lock, and
-- holds it while one of them is there.
local permits_of = include('permits_of')
local taken_permits = include('taken_permits')
local is_value = include('is_value')
local function holds_by(held, evidence)
  local kind = redis.call('type', held).ok
  if kind == 'hash' then
    if redis.call('hexists', held, evidence) == 1 then return true end
    local other = string.sub(evidence, -6) == ':write' and string.sub(evidence, 1, -7) or evidence .. ':write'
    return redis.call('hexists', held, 'mode') == 1 and redis.call('hexists', held, other) == 1
  end
  if kind == 'string' then return is_value(held, evidence) end
  if kind ~= 'zset' then return false end
  if redis.call('zscore', held, evidence) then return true end
  return taken_permits(held) == 'zset' and permits_of(evidence, 1, held)[1]
end
return holds_by
