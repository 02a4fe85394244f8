-- Leave the queue, and give back the hold that fair/acquire may have got us, as lock/release does. If nobody
-- has the lock now, the head of the queue is told: we may have been the head, and told in its place. If somebody has it, and
-- we were the head, the new one is told that it is the first.
-- May be sent twice, and late: a copy also removes the place that a late copy of fair/acquire has taken.
--
-- KEYS  lock, queue, deadlines, waiters  as in fair/acquire
--       line, line_waiters, line_facts, request, keep
--                                        as in lock/release
-- ARGV  and answers as those of lock/release.
local lock, queue, deadlines, waiters = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local line, line_waiters, line_facts, request, keep = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local owner, channel, sharded = ARGV[1], ARGV[4], ARGV[5]
local release = script('lock/release')
local announce_to_head = include('announce_to_head')
local tell_new_head = include('tell_new_head')

local was_head = redis.pcall('lindex', queue, 0) == owner
redis.pcall('hdel', waiters, owner)  -- a key of another type is no reason to stay in the others
redis.pcall('zrem', deadlines, owner)
redis.pcall('lrem', queue, 0, owner)

local answer = release({lock, line, line_waiters, line_facts, request, keep}, ARGV)
local kept = answer[1] == 'kept'  -- the head knows only the old TTL
if kept or redis.call('exists', lock) == 0 then
  local why = announce_to_head(queue, deadlines, waiters, channel, sharded)
  if answer[1] == 'released' and answer[2] == '' then return {'released', why} end
elseif was_head then
  tell_new_head(queue, waiters, channel, sharded, redis.call('pttl', lock))
end
return answer
