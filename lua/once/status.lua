-- Ask whether an owner has done the work of this lock and keeps it for that reason. This script changes nothing, so it may be
-- sent twice.
--
-- KEYS  lock  hash: owner -> holds
--       done  string: see hold/mark_done
-- ->    {done, now, since, rest, facts}
--             The work was done at `since`. now: the server's time, as `since` in ms since the epoch. rest: for this many ms
--             the work counts as done
--       {not_done}
local now = include('redis/now')

if redis.call('type', done).ok ~= 'string' or redis.call('type', lock).ok ~= 'hash' then return {'not_done'} end
local owner, since, facts = redis.call('getrange', done, 0, 4000):match('^([^\n]*)\n(%d+)\n(.*)$')
if not owner or redis.call('hexists', lock, owner) == 0 then return {'not_done'} end
return {'done', now(), tonumber(since), redis.call('pttl', lock), facts}
