-- Write down what people want to know about a holder or a waiter, if it really holds or waits. Nobody reads the
-- answer.
-- May be sent twice.
--
-- KEYS  meta    hash: owner -> JSON; its TTL is that of the longest holder and is never shortened here
--       held    what is held
--       queue   optional, hash: owner -> "<alive until, ms> <arrived> ..." of those who wait,
--       waits   and the same as meta, of them
-- ARGV  owner   whose facts
--       member  the evidence that it holds: see holds_by
--       lease   milliseconds that the facts stay, >= 1
--       facts   a JSON object with at least one field
--       ended   1: the command has ended, and only --min-hold keeps the key
-- ->    written
--       not_ours  this owner neither holds nor waits
-- Beside `facts` stand since, renewed, lease_ms and ended_at, in the server's time; since is that of the
-- first writing, of a waiter its arrival.
local meta, held, queue, waits = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, member, lease, facts, ended = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local now = include('now')
local holds_by = include('holds_by')
local field_of = include('field_of')

local function record(since, time, lives, ended_at)
  return '{"since":' .. since .. ',"renewed":' .. time .. ',"lease_ms":' .. lives .. ',"ended_at":' .. ended_at ..
    ',' .. string.sub(facts, 2)
end

local time = now()
if not holds_by(held, member) then
  local alive, arrived
  if queue then alive, arrived = string.match(field_of(queue, owner, 100) or '', '^(%d+) (%d+)') end
  if not alive or tonumber(alive) <= time then return 'not_ours' end
  local stays = math.max(redis.call('pttl', queue), 1)
  redis.call('pexpire', waits, stays)
  local since = string.format('%.0f', math.floor(arrived / 1000))
  redis.call('hset', waits, owner, record(since, time, string.format('%.0f', alive - time), 'null'))
  redis.call('pexpire', waits, stays)
  return 'written'
end
if waits then redis.call('hdel', waits, owner) end

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
redis.call('hset', meta, owner, record(since, time, lease, ended_at))
redis.call('pexpire', meta, longest)
return 'written'
