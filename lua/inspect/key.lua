-- Inspect a key of any kind, and the keys beside it. This script changes nothing.
--
-- KEYS  lock             a key of any kind
--       queue_order      list: the waiters for a fair lock, in their order
--       queue_deadlines  zset: owner -> forgotten after, in ms since the epoch
--       queue_alive      hash: those of rlock among them, owner -> "<alive until> <arrived>"
--       token            string: the newest fencing token
--       taken            zset: permit -> end of its lease, in ms since the epoch
--       line_order       zset: the waiters for a lock that is not fair, owner -> when it arrived
--       line_waiters     hash: see line/waiter_of
--       line_facts       hash: what waiters say of themselves, owner -> JSON
-- ARGV  beside           the timeout keys of a reader are <beside><owner>:rwlock_timeout:<hold>, see read/acquire
--       known...         owners, or ids of permits in hexadecimal. Permits are recognized by their owners. Of more holders than
--                        `most`, these are answered first
-- ->    {now, kind, pttl, content, queue, deadlines, token, taken, owners, line, leases, further, rests}
--       now      the server's time in ms since the epoch
--       content  of a lock: owner, holds, ...; of text and of a number: itself; else empty. `content` and `taken` may lack some
--       owners   for each permit that is taken its owner, '' if it is not known
--       line     owner, alive for (ms), arrived (ms since the epoch), facts or '', ... It has the waiters that are alive, in
--                their order, and rlock's waiters in the queue
--       leases   the number of all holders: of the fields of a lock, or of the permits whose lease goes on
--       further  the number of places behind those of `queue` and `line`, which are too many to read
--       rests    of a read-write lock, for each field of `content` for how many ms its read holds go on. -2: they have ended.
--                -1: it is not known
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local field_of = include('redis/field_of')
local slot_in = include('permits/slot_in')
local rest_of_reader = include('hold/rest_of_reader')
local time = now()
local most = 999  -- more than people read; an inspection must not keep the server from its work

-- The answer to a command, if its key has the type that it wants.
local function if_type(wanted, command, key, ...)
  if redis.call('type', key).ok ~= wanted then return {} end
  return redis.call(command, key, ...)
end

-- The fields of a lock: all, or those that are known, and some of the others.
local function fields_of_lock()
  if redis.call('hlen', lock) <= most then return redis.call('hgetall', lock) end
  local all, there = {}, {}
  local function add(field, value)
    if not value or there[field] then return end
    all[#all + 1], all[#all + 2] = field, value
    there[field] = true
  end
  add('mode', redis.call('hget', lock, 'mode'))
  for i = 1, math.min(#known, most) do
    add(known[i], redis.call('hget', lock, known[i]))
    add(known[i] .. ':write', redis.call('hget', lock, known[i] .. ':write'))
  end
  local cursor = '0'
  repeat
    local page = redis.call('hscan', lock, cursor, 'count', most)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      if #all < 2 * most then add(page[2][i], page[2][i + 1]) end
    end
  until cursor == '0' or #all >= 2 * most
  return all
end

-- `content` of the answer.
local function read_content(kind)
  if kind == 'lock' or kind == 'read-write' then return fields_of_lock() end
  if kind == 'string' or kind == 'number' then return {redis.call('getrange', lock, 0, most)} end
  return {}
end

-- `rests` of the answer, for these fields of a read-write lock.
local function read_rests(fields)
  local rests, looks = {}, 2 * most
  for i = 1, #fields, 2 do
    local holds = tonumber(fields[i + 1]) or 0
    local few = holds >= 1 and holds <= looks
    if few then looks = looks - holds end
    rests[#rests + 1] = few and rest_of_reader(beside, fields[i], holds) or -1
  end
  return rests
end

-- The permits that are taken, {id, end of its lease, ...}: all, or some of them and those that are known.
local function read_permits()
  local permits = if_type('zset', 'zrange', taken, 0, most, 'withscores')
  if #permits <= 2 * most then return permits end
  local there = {}
  for i = 1, #permits, 2 do there[permits[i]] = true end
  for i = 1, math.min(#known, most) do
    local id = #known[i] == 32 and known[i]:gsub('%x%x', function(c) return string.char(tonumber(c, 16)) end)
    local ends = id and not there[id] and redis.call('zscore', taken, id)
    if ends then permits[#permits + 1], permits[#permits + 2] = id, ends end
  end
  return permits
end

local function count_leases(kind, permits)
  if kind == 'lock' or kind == 'read-write' then return redis.call('hlen', lock) end
  return #permits > 0 and redis.call('zcount', taken, '(' .. time, '+inf') or 0
end

-- Where the permits of rlock stand among these, by the tails of their ids; and how many they are. The tails are hex digits: with
-- tail_of() the script would take half as long again.
local function places_by_tail(permits)
  local function hex(c) return string.format('%02x', string.byte(c)) end
  local places, count = {}, 0
  for i = 1, #permits, 2 do
    local slot, tail = slot_in(permits[i])
    if slot then places[tail:gsub('.', hex)], count = (i + 1) / 2, count + 1 end
  end
  return places, count
end

-- The owners of these permits. The function tries permit 1 of every owner that is known, then permit 2, and so on: an owner may
-- have released some of them, also the first ones.
local function name_owners(permits)
  local by_tail, nameless = places_by_tail(permits)
  local owners = {}
  for i = 1, #permits / 2 do owners[i] = '' end
  -- It gives an owner up after `most_missing` in a row, and stops after `tries`.
  local most_missing, tries = 64, 5000
  local asked, missing, number = known, {}, 0
  while nameless > 0 and #asked > 0 and tries > 0 do
    local ask_again = {}
    number = number + 1
    for i = 1, math.min(#asked, tries) do
      local owner = asked[i]
      local place = by_tail[redis.sha1hex(owner .. ':' .. number):sub(1, 24)]
      missing[owner] = place and 0 or (missing[owner] or 0) + 1
      if place and owners[place] == '' then owners[place], nameless = owner, nameless - 1 end
      if missing[owner] < most_missing then ask_again[#ask_again + 1] = owner end
    end
    tries = tries - #asked
    asked = ask_again
  end
  return owners
end

-- `line` of the answer.
local function living_waiters(queued, lined)
  local living, size = {}, 0
  local has_facts = redis.call('type', line_facts).ok == 'hash'
  local function add(registry, owner)
    if redis.call('type', registry).ok ~= 'hash' then return end
    local alive, arrived = (field_of(registry, owner, 100) or ''):match('^(%d+) (%d+)')
    if not alive or tonumber(alive) <= time then return end
    local facts = has_facts and size < 1000000 and field_of(line_facts, owner, 65536) or ''
    size = size + #facts
    for _, word in ipairs({owner, alive - time, math.floor(arrived / 1000), facts}) do living[#living + 1] = word end
  end
  for _, owner in ipairs(queued) do add(queue_alive, owner) end
  for _, owner in ipairs(lined) do add(line_waiters, owner) end
  return living
end

-- How many places stand behind those that were read.
local function count_further(places, command, key)
  return #places > most and redis.call(command, key) - #places or 0
end

local kind = kind_of(lock)
local content, permits = read_content(kind), read_permits()
local queued = if_type('list', 'lrange', queue_order, 0, most)
local lined = if_type('zset', 'zrange', line_order, 0, most)
return {
  time, kind, redis.call('pttl', lock), content,
  queued, if_type('zset', 'zrange', queue_deadlines, 0, most, 'withscores'),
  if_type('string', 'getrange', token, 0, most), permits, name_owners(permits), living_waiters(queued, lined),
  count_leases(kind, permits), count_further(queued, 'llen', queue_order) + count_further(lined, 'zcard', line_order),
  kind == 'read-write' and read_rests(content) or {},
}
