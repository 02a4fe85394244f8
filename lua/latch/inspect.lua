-- Ask whether a latch is open. A client that waits for it has a place in a line: people see there who waits. The order means
-- nothing.
-- This call may be sent twice.
--
-- KEYS  latch    string: the count that is left
--       line: order, waiters, facts  optional: the waiters, see line/in_turn
--       record   optional, hash: under `latch`, what rlock knows of it. If it is given, a latch that is gone counts as open
--                only if its record says that it was opened
-- ARGV  owner    optional: the owner that asks
--       waited   number of ms that this owner has waited; -1: it does not wait, or no longer
--       channel  where the latch is announced
--       sharded  1 to publish by sharded pub/sub, too
-- ->    {open, now}      the count is zero, or there is no latch
--       {closed, ttl}    the latch expires in this many ms; -1: never
--       {absent}         only with `record`: there is no latch, and its record does not say that it was opened
--       {foreign, kind}  the key holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local field_of = include('redis/field_of')
local waiter_of = include('line/waiter_of')
local take_place = include('line/take_place')
local remove_waiter = include('line/remove_waiter')

local function look()
  local kind = kind_of(latch)
  if kind == 'number' and tonumber(redis.call('get', latch)) > 0 then
    return {'closed', redis.call('pttl', latch)}
  end
  if kind ~= 'none' and kind ~= 'number' then return {'foreign', kind} end
  if kind == 'number' or not record then return {'open', now()} end
  local written = field_of(record, 'latch', 1000)
  if written and written:find('"opened":%d') then return {'open', now()} end
  return {'absent'}
end

-- A waiter asks every two seconds, so most of its calls find a place that lasts.
local function show(waits)
  local listed = redis.call('zscore', line.order, owner)
  if not waits then return listed and remove_waiter(line, owner) end
  local time = now()
  local known = listed and waiter_of(line, owner)
  if not known or known.alive < time + 6000 then take_place(line, {owner = owner, needs = 1, time = time}) end
end

local answer = look()
local waits = (waited or -1) >= 0 and answer[1] == (record and 'absent' or 'closed')
if line.order then pcall(show, waits) end  -- only people read the line: an error there must not change the answer
return answer
