-- Undo lock/enter, whatever became of it: nothing happens unless it was done and not undone yet.
-- May be sent twice.
--
-- KEYS  lock     hash: owner -> holds
--       request  string: the request of lock/enter was done
-- ARGV  owner    who asked
-- ->    {0}      counted down
--       {-1}     there was nothing to undo
local lock, request = KEYS[1], KEYS[2]
local owner = ARGV[1]

if redis.call('del', request) == 0 then return {-1} end
if redis.call('type', lock).ok ~= 'hash' then return {-1} end
if tonumber(redis.call('hget', lock, owner) or 0) < 2 then return {-1} end  -- the hold that was there before stays
redis.call('hincrby', lock, owner, -1)
return {0}
