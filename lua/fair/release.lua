-- Leave the queue, and release the hold that fair/acquire may have acquired, as lock/release does. If the lock is free now, wake
-- up the head of the queue. An earlier release may have woken us up, when we were the head. If the lock is held and we were the
-- head, tell the new head that it is the first.
-- This call may be sent twice, and late: a copy also removes the place that a late copy of fair/acquire has taken. But if its
-- request was answered before, or the owner may return and has no hold, the place is of a new acquire, and stays.
--
-- KEYS  lock     hash: owner -> holds
--       queue: order, deadlines, alive  the waiters, see fair_queue/mended_queue
--       line: order, waiters, facts  optional: the waiters that do not wait in the queue, see line/in_turn
--       request  optional, string: as in lock/release
--       keep     optional, string: as in lock/release
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  those of lock/release
-- ->    what lock/release answers
local release = script('lock/release')
local announce_to_head = include('fair_queue/announce_to_head')
local tell_new_head = include('fair_queue/tell_new_head')
local leave_queue = include('fair_queue/leave_queue')

local before = request and redis.pcall('get', request)
local answered = type(before) == 'string' and (way ~= 'undo' or before == 'undone')
  or shares and redis.pcall('hexists', lock, owner) ~= 1
local was_head = not answered and leave_queue(queue, owner)

local answer = release(keys_of('lock/release'), ARGV)
local kept = answer[1] == 'kept'  -- the head knows only the old TTL
if kept or redis.call('exists', lock) == 0 then
  local why = announce_to_head(queue)
  if answer[1] == 'released' and answer[2] == '' then return {'released', why} end
elseif was_head then
  tell_new_head(queue, redis.call('pttl', lock))
end
return answer
