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

local kind = kind_of(lock)
local content, leases = {}, 0
if kind == 'lock' or kind == 'read-write' then
  content, leases = fields_of_lock(), redis.call('hlen', lock)
elseif kind == 'string' or kind == 'number' then
  content = {redis.call('getrange', lock, 0, most)}
end

local rests, looks = {}, 2 * most
for i = 1, kind == 'read-write' and #content or 0, 2 do
  local holds = tonumber(content[i + 1]) or 0
  local few = holds >= 1 and holds <= looks
  if few then looks = looks - holds end
  rests[#rests + 1] = few and rest_of_reader(beside, content[i], holds) or -1
end

-- The loop below compares tails as hex digits: with tail_of() the script would take half as long again.
local permits = if_type('zset', 'zrange', taken, 0, most, 'withscores')
if leases == 0 and #permits > 0 then leases = redis.call('zcount', taken, '(' .. time, '+inf') end
if #permits > 2 * most then
  local there = {}
  for i = 1, #permits, 2 do there[permits[i]] = true end
  for i = 1, math.min(#known, most) do
    local id = #known[i] == 32 and known[i]:gsub('%x%x', function(c) return string.char(tonumber(c, 16)) end)
    local ends = id and not there[id] and redis.call('zscore', taken, id)
    if ends then permits[#permits + 1], permits[#permits + 2] = id, ends end
  end
end
local by_tail, owners, nameless = {}, {}, 0
local function hex(c) return string.format('%02x', string.byte(c)) end
for i = 1, #permits, 2 do
  owners[#owners + 1] = ''
  local slot, tail = slot_in(permits[i])
  if slot then by_tail[tail:gsub('.', hex)], nameless = #owners, nameless + 1 end
end
-- Try permit 1 of every owner, then permit 2, and so on: an owner may have released some of them, also the first ones. Give an
-- owner up after `most_missing` in a row, and stop after `tries`.
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

-- The waiters that are alive, with what `registry` says of them.
local living, size = {}, 0
local has_facts = redis.call('type', line_facts).ok == 'hash'
local function add_living(registry, owner)
  if redis.call('type', registry).ok ~= 'hash' then return end
  local alive, arrived = (field_of(registry, owner, 100) or ''):match('^(%d+) (%d+)')
  if not alive or tonumber(alive) <= time then return end
  living[#living + 1] = owner
  living[#living + 1] = alive - time
  living[#living + 1] = math.floor(arrived / 1000)
  local said = has_facts and size < 1000000 and field_of(line_facts, owner, 65536) or ''
  size = size + #said
  living[#living + 1] = said
end
local queued = if_type('list', 'lrange', queue_order, 0, most)
for _, owner in ipairs(queued) do add_living(queue_alive, owner) end
local lined = if_type('zset', 'zrange', line_order, 0, most)
for _, owner in ipairs(lined) do add_living(line_waiters, owner) end
local further = (#queued > most and redis.call('llen', queue_order) - #queued or 0) +
  (#lined > most and redis.call('zcard', line_order) - #lined or 0)

return {
  time, kind, redis.call('pttl', lock), content,
  queued, if_type('zset', 'zrange', queue_deadlines, 0, most, 'withscores'),
  if_type('string', 'getrange', token, 0, most), permits, owners, living,
  leases, further, rests,
}
