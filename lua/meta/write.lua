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
--       around    the facts are those of the hold around this one. They stay if no process renews that hold, as long as one
--                 does, and as long as the key is kept after its command
-- Facts with "renews":false do not replace those of a process that renews the hold of the same owner. That process goes on, and
-- a release has to tell it.
-- The script adds since, renewed, lease_ms and ended_at to `facts`, in server time, and "inner":true to those of an inner hold.
-- since is the time of the first call; for a waiter, that of its arrival.
local now = include('redis/now')
local holds_by = include('hold/holds_by')
local field_of = include('redis/field_of')
local write_with_ttl = include('redis/write_with_ttl')

local time = now()
local function record(since, lives, ended_at)
  return ('{"since":%s,"renewed":%s,"lease_ms":%s,"ended_at":%s,'):format(since, time, lives, ended_at) ..
    (inner == '1' and '"inner":true,' or '') .. facts:sub(2)
end
local function times_in(text)
  return (text or ''):match('^{"since":(%d+),"renewed":(%d+),"lease_ms":(%d+),(.*)')
end

if not holds_by(held, member) then
  local until_then, arrived = (alive and field_of(alive, owner, 100) or ''):match('^(%d+) (%d+)')
  if not until_then or tonumber(until_then) <= time then return 'not_ours' end
  write_with_ttl('hset', waits, math.max(redis.call('pttl', alive), 1), owner,
    record(math.floor(arrived / 1000), until_then - time, 'null'))
  return 'written'
end
if waits then redis.call('hdel', waits, owner) end

local longest = math.max(redis.call('pttl', meta), lease)
local since, renewed, its_lease, rest = times_in(field_of(meta, owner, 100000))
if since then
  local lives, renews = rest:find('^"ended_at":null'), rest:find('"renews":true')
  -- A process that renews and lives has renewed its facts within a third of its lease.
  local around = lives and not renews or time < renewed + its_lease / (lives and 2 or 1)
  if inner == '1' and around and not rest:find('"inner":true') then return 'around' end
  if lives and renews and time < renewed + its_lease and not facts:find('"renews":true') then
    redis.call('pexpire', meta, longest)
    return 'written'
  end
end

-- The facts of killed holders expire with the hash, unless other holders keep it alive. To let 16 stay is cheaper than to read
-- them at each renewal. Of more than a hundred, each call looks at about a hundred: HSCAN takes any number as its cursor.
local known = redis.call('hlen', meta)
if known > 16 then
  local some = redis.call('hscan', meta, known > 100 and time % 65536 or 0, 'count', 100)[2]
  for i = 1, #some, 2 do
    local _, last, lasts = times_in(some[i + 1])
    if last and last + lasts < time then redis.call('hdel', meta, some[i]) end
  end
end
write_with_ttl('hset', meta, longest, owner, record(since or time, lease, ended == '1' and time or 'null'))
return 'written'
