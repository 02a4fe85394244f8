-- Delete a semaphore, or a pool with all the permits that are taken from it. Those in the line are told, and see that
-- there is none.
-- May be sent twice: the request is remembered.
--
-- KEYS  pool     string: how many permits are available
--       request  string: this request was done
--       line, waiters, facts
--                who waits for permits: see in_turn
--       taken    of a pool only, zset: id -> end of its lease
--       slots    the same, zset: see mend_slots
-- ARGV  channel  where waiters are told, without their ":<owner>"
--       sharded  1: by sharded pub/sub too
--       memory   for how many ms the request is remembered
-- ->    {done}           deleted
--       {absent}         there is none
--       {foreign, kind}  something else stands there
local pool, request, taken, slots = KEYS[1], KEYS[2], KEYS[6], KEYS[7]
local channel, sharded, memory = ARGV[1], ARGV[2], ARGV[3]
local kind_of = include('kind_of')
local discard = include('discard')
local queue_at = include('queue_at')
local tell_line = include('tell_line')

if redis.call('exists', request) == 1 then return {'done'} end
local kind = kind_of(pool)
if kind == 'none' then return {'absent'} end
if kind ~= 'number' then return {'foreign', kind} end
if taken then
  local kind_taken = redis.call('type', taken).ok
  if kind_taken ~= 'none' and kind_taken ~= 'zset' then return {'foreign', 'permits'} end
end

redis.call('del', pool)
-- Second: behind a write that takes no memory it is let through when none is left.
redis.call('set', request, 1, 'px', memory)
if taken then
  discard(taken)
  discard(slots)
end
tell_line(queue_at(KEYS, 3, channel, sharded))
return {'done'}
