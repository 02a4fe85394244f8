-- Forget the facts of all holders of a pool that was deleted. No client reads the answer.
-- This call may be sent twice, and late.
--
-- KEYS  meta  hash: owner -> JSON
--       held  zset: the permits that are taken from the pool
-- ->    erased
--       still_held  there is such a pool again
--       latch       the facts are those of a latch with this name
local discard = include('redis/discard')

if redis.call('exists', held) == 1 then return 'still_held' end
if redis.call('hexists', meta, 'latch') == 1 then return 'latch' end
discard(meta)
return 'erased'
