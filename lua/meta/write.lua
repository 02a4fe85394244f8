-- Write down what people want to know about a holder, if it really holds. Nobody reads the answer.
-- May be sent twice.
--
-- KEYS  meta    hash: owner -> JSON; its TTL is that of the longest holder and is never shortened here
--       held    what is held
-- ARGV  owner   whose facts
--       member  the evidence that it holds: see holds_by
--       lease   milliseconds that the facts stay, >= 1
--       facts   a JSON object with at least one field
--       ended   1: the command has ended, and only --min-hold keeps the key
-- ->    written
--       not_ours  this owner holds nothing
-- Beside `facts` stand since, renewed, lease_ms and ended_at, in the server's time; since is that of the
-- first writing.
local meta, held = KEYS[1], KEYS[2]
local owner, member, lease, facts, ended = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local now = include('now')
local holds_by = include('holds_by')
local field_of = include('field_of')

if not holds_by(held, member) then return 'not_ours' end

local time = now()
local before = field_of(meta, owner, 100000)
local since = before and string.match(before, '^{"since":(%d+),') or time

-- What killed holders left behind goes with the hash, unless others keep that alive. Where there are many,
-- some are looked at each time: every number is a cursor.
local known = redis.call('hlen', meta)
if known > 16 then
  local some = redis.call('hscan', meta, known > 100 and time % 65536 or 0, 'count', 100)[2]
  for i = 1, #some, 2 do
    local renewed, its_lease = string.match(some[i + 1], '^{"since":%d+,"renewed":(%d+),"lease_ms":(%d+),')
    if renewed and renewed + its_lease < time then redis.call('hdel', meta, some[i]) end
  end
end

local longest = math.max(redis.call('pttl', meta), tonumber(lease))
-- Who may not do this must learn it before there is a hash without a TTL.
redis.call('pexpire', meta, longest)
local ended_at = ended == '1' and time or 'null'
redis.call('hset', meta, owner, '{"since":' .. since .. ',"renewed":' .. time .. ',"lease_ms":' .. lease ..
  ',"ended_at":' .. ended_at .. ',' .. string.sub(facts, 2))
redis.call('pexpire', meta, longest)
return 'written'
