-- Write down what people want to know about a holder or a waiter, if it really holds or waits. No client reads the answer.
-- This call may be sent twice.
--
-- KEYS  meta    hash: owner -> JSON. Its TTL is that of the longest holder; this script never shortens it
--       held    the key that is held
--       alive   optional, hash: owner -> "<alive until, ms> <arrived> ..." of the waiters
--       waits   optional, hash: as meta, of the waiters
-- ARGV  owner   whose facts they are
--       member  the entry of the hold, see hold/holds_by
--       lease   milliseconds for which the facts stay, at least 1
--       facts   a JSON object with at least one field
--       ended   1: the command has ended, and only --min-hold or --once-per keeps the key
--       inner   1: the facts are those of a hold inside another one of the same owner. Its holder may end first
-- ->    written
--       not_ours  this owner neither holds nor waits
--       around    the hold around this one keeps its facts up, or has ended and keeps the key
-- Facts with "renews":false do not replace those of a process that renews the hold of the same owner. That process goes on, and
-- a release has to tell it.
-- The script adds since, renewed, lease_ms and ended_at to `facts`, in server time. since is the time of the first call; for a
-- waiter, that of its arrival.
local now = include('redis/now')
local holds_by = include('hold/holds_by')
local field_of = include('redis/field_of')
local write_with_ttl = include('redis/write_with_ttl')

local time = now()
local function record(since, lives, ended_at)
  return '{"since":' .. since .. ',"renewed":' .. time .. ',"lease_ms":' .. lives .. ',"ended_at":' .. ended_at ..
    ',' .. facts:sub(2)
end

if not holds_by(held, member) then
  local until_then, arrived
  if alive then until_then, arrived = (field_of(alive, owner, 100) or ''):match('^(%d+) (%d+)') end
  if not until_then or tonumber(until_then) <= time then return 'not_ours' end
  local since = string.format('%.0f', math.floor(arrived / 1000))
  local said = record(since, string.format('%.0f', until_then - time), 'null')
  write_with_ttl('hset', waits, math.max(redis.call('pttl', alive), 1), owner, said)
  return 'written'
end
if waits then redis.call('hdel', waits, owner) end

local before = field_of(meta, owner, 100000)
if inner == '1' and before then
  -- A holder that lives has renewed its facts within a third of its lease.
  local renewed, its_lease, rest = before:match('^{"since":%d+,"renewed":(%d+),"lease_ms":(%d+),"ended_at":(.*)')
  local by_us = rest and rest:match('"pid":%d+') == facts:match('"pid":%d+')
  if renewed and not by_us and time < renewed + its_lease / (rest:match('^null') and 2 or 1) then return 'around' end
end
local since = before and before:match('^{"since":(%d+),') or time

-- The facts of killed holders expire with the hash, unless other holders keep it alive. To let 16 stay is cheaper than to read
-- them at each renewal. Of more than a hundred, each call looks at about a hundred: HSCAN takes any number as its cursor.
local known = redis.call('hlen', meta)
if known > 16 then
  local some = redis.call('hscan', meta, known > 100 and time % 65536 or 0, 'count', 100)[2]
  for i = 1, #some, 2 do
    local renewed, its_lease = some[i + 1]:match('^{"since":%d+,"renewed":(%d+),"lease_ms":(%d+),')
    if renewed and renewed + its_lease < time then redis.call('hdel', meta, some[i]) end
  end
end

local longest = math.max(redis.call('pttl', meta), lease)
local function renews(text) return text and text:find('"renews":true') end
if renews(before) and not renews(facts) then
  local renewed, its_lease = before:match('^{"since":%d+,"renewed":(%d+),"lease_ms":(%d+),"ended_at":null')
  if renewed and renewed + its_lease > time then
    redis.call('pexpire', meta, longest)
    return 'written'
  end
end
local ended_at = ended == '1' and time or 'null'
write_with_ttl('hset', meta, longest, owner, record(since, lease, ended_at))
return 'written'
