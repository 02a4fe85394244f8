-- Look at a key for a client that waits for it: who holds it, and which place the waiter has. The number of commands does not
-- depend on the number of holders and waiters, so only some of the holders are named. This script changes nothing.
--
-- KEYS  lock    a key of any kind
--       meta    hash: owner -> JSON, what holders say of themselves
--       taken   zset: permit -> end of its lease, in ms since the epoch
--       slots   zset: see permits/mend_slots
--       queue_order  list: the queue of a fair lock
--       line_order   zset: the waiters for a lock that is not fair, owner -> when it arrived
-- ARGV  asker   the owner who waits; '': none
-- ->    {now, kind, pttl, unnamed, place, length, available, owner, permit, end, holds, JSON, ...}
--       now      the server's time in ms since the epoch
--       kind     none, lock, read-write, string, number, or another type of Redis
--       pttl     for how many ms the key stays; -1: it has no TTL
--       unnamed  the number of holders that are not named
--       place    the place of the waiter, from 1; 0: it has none. length: the number of waiters
--       available  of a number: how many permits are available, those included whose lease has ended; else ''
--       owner    '' if the owner of the permit is not known. permit: its id, else ''. end: in how many ms the hold or the permit
--                ends, -1: never. holds: how many the owner has. JSON: '' if the owner says nothing
local now = include('redis/now')
local field_of = include('redis/field_of')
local owner_in = include('hold/owner_in')
local tail_of = include('permits/tail_of')
local permit_id = include('permits/permit_id')
local slot_in = include('permits/slot_in')
local rest_of_permit = include('permits/rest_of_permit')
local most_named = 3
local longest = 1000  -- bytes of an owner or a permit. Those of rlock are shorter: kLongestOwner in src/base/owner_id.h

local time, rest = now(), redis.call('pttl', lock)
local has_facts = redis.call('type', meta).ok == 'hash'
local named, unnamed, holders, available = 0, 0, {}, ''

local function name(owner, permit, ends, holds)
  named = named + 1
  local facts = has_facts and owner ~= '' and field_of(meta, owner, 65536) or ''
  for _, word in ipairs({owner, permit, ends, tonumber(holds) or 1, facts}) do holders[#holders + 1] = word end
end

local function read_owners()
  local fields, seen = redis.call('hscan', lock, '0', 'count', '10')[2], {mode = true}
  unnamed = redis.call('hlen', lock) - redis.call('hexists', lock, 'mode')
  for i = 1, #fields, 2 do
    local owner = owner_in(fields[i])
    local counts = seen[owner] or named < most_named
    if counts and owner ~= 'mode' then unnamed = unnamed - 1 end
    if counts and not seen[owner] then name(owner:sub(1, longest), '', rest, fields[i + 1]) end
    seen[owner] = counts
  end
end

local function end_of(id) return rest_of_permit(taken, id, time) end

-- How many permits an owner has (the function counts to eight), and the first of them.
local function first_permit(owner)
  local count, first = 0, nil
  for i = 1, 8 do
    local tail = tail_of(owner, i)
    local slot = redis.call('zscore', slots, tail)
    local id = slot and permit_id(tonumber(slot), tail)
    if not id or not end_of(id) then return count, first end
    count, first = count + 1, first or id
  end
  return count, first
end

local function read_permits()
  unnamed = redis.call('zcount', taken, '(' .. time, '+inf')
  available = available + redis.call('zcount', taken, '-inf', time)
  local known = has_facts and redis.call('type', slots).ok == 'zset'
  local some = known and redis.call('hscan', meta, '0', 'count', '10')[2] or {}
  for i = 1, math.min(#some, 40), 2 do
    local count, permit = 0, nil
    if named < most_named then count, permit = first_permit(some[i]) end
    if permit then name(some[i], permit, end_of(permit)) end
    unnamed = unnamed - count
  end
  -- Name permits of other clients. A permit of rlock stays unnamed if its owner is not known.
  local ids = redis.call('zrangebyscore', taken, '(' .. time, '+inf', 'limit', 0, 10)
  for _, id in ipairs(ids) do
    if named < most_named and not slot_in(id) then
      name('', id:sub(1, longest), end_of(id))
      unnamed = unnamed - 1
    end
  end
end

local kind = redis.call('type', lock).ok
if kind == 'hash' then
  local mode = field_of(lock, 'mode', 5)
  kind = (mode == 'read' or mode == 'write') and 'read-write' or 'lock'
  read_owners()
elseif kind == 'string' then
  local text = redis.call('getrange', lock, 0, longest - 1)
  local number = #text <= 16 and (text == '0' or text:find('^-?[1-9]%d*$'))
  kind = number and 'number' or 'string'
  if number then available = tonumber(text) else name(text, '', rest) end
  if number and redis.call('type', taken).ok == 'zset' then read_permits() end
end

-- A fair queue goes before the line, as in inspect/key.
local queued, lined = tonumber(redis.pcall('llen', queue_order)) or 0, tonumber(redis.pcall('zcard', line_order)) or 0
local place = queued > 0 and asker ~= '' and tonumber(redis.pcall('lpos', queue_order, asker) or nil)
place = place and place + 1 or 0
if place == 0 and lined > 0 then
  local arrived = redis.call('zscore', line_order, asker)
  if arrived then place = queued + redis.call('zcount', line_order, '-inf', '(' .. arrived) + 1 end
end
local answer = {time, kind, rest, math.max(unnamed, 0), place, queued + lined, available}
for i = 1, #holders do answer[#answer + 1] = holders[i] end
return answer
