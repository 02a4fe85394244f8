-- Register the arrival of a waiter with --newest: the waiters with --newest that came before it are superseded, and will not
-- get the lock. The answer is its ticket, with which it asks for the lock.
-- This call may be sent twice: the server remembers the request, and a copy is told the same ticket.
--
-- KEYS  lock     what the waiter wants
--       line: order, waiters, facts  the waiters, see line/in_turn
--       request  string: the ticket of this request
-- ARGV  who      what the waiter says of itself, for people
--       kind     what the lock is, see redis/kind_of
--       ticket   number that this waiter was given at another key; 0: none
--       channel  each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request: as long as it remembers the newest waiter. Otherwise a late
--                copy would draw a newer ticket
--       owner    optional: the owner that asks. If it holds the lock already, it supersedes no waiter
-- ->    {held, now, ticket}  now is the server's time in ms since the epoch
--       {foreign, kind}      the key holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local now_micros = include('redis/now_micros')
local waiter_of = include('line/waiter_of')
local newest_of = include('line/newest_of')
local note_newest = include('line/note_newest')
local give_up_place = include('line/give_up_place')

local answered = redis.call('get', request)
if answered then return {'held', now(), tonumber(answered)} end
local found = kind_of(lock)
if found ~= 'none' and found ~= kind then return {'foreign', found} end

local holds = owner and found ~= 'none' and
  (redis.call('hexists', lock, owner) == 1 or redis.call('hexists', lock, owner .. ':write') == 1)
if holds then return {'held', now(), ticket} end

local before, drawn = newest_of(line), ticket
if drawn == 0 then drawn = math.max(now_micros(), before.ticket + 1) end  -- the clock may have been set back
redis.call('set', request, string.format('%.0f', drawn), 'px', memory)
if drawn > before.ticket then
  -- The waiter takes over the place of the newest one before it. Otherwise deploys that come often would never get a turn.
  local waits = before.owner ~= '' and redis.call('zscore', line.order, before.owner) and waiter_of(line, before.owner)
  local place = waits or before.owner == '' and before or {arrived = '0', before = 0}
  line.newest = {ticket = drawn, arrived = place.arrived, before = place.before, owner = '', who = who}
  note_newest(line)
  if waits then give_up_place(line, lock, before.owner) end
end
return {'held', now(), drawn}
