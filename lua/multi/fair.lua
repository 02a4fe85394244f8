-- Acquire several fair locks: all of them or none. We keep our place in the queue of the lock that is busy, and in no other.
-- KEYS, ARGV and answers are as those of multi/lock, for fair/acquire and fair/release.
-- This call may be sent twice, as fair/acquire may.
local ask = script('fair/acquire')
local undo = script('fair/release')
local all_or_none = include('hold/all_or_none')
local leave_queue = include('fair_queue/leave_queue')
local announce_to_head = include('fair_queue/announce_to_head')
local tell_new_head = include('fair_queue/tell_new_head')
local function leave(KEYS, ARGV)
  names_of('fair/release', KEYS, ARGV)
  if request and redis.pcall('get', request) then return end  -- the place is of a later acquire of this owner
  local was_head = leave_queue(queue, owner)
  if redis.call('exists', lock) == 0 then
    announce_to_head(queue)
  elseif was_head then
    tell_new_head(queue, redis.call('pttl', lock))
  end
end
return all_or_none(ask, undo, leave)
