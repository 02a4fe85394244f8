-- Has somebody done the work of this lock, who keeps it therefore? Changes nothing, so it may be sent twice.
--
-- KEYS  lock  hash: owner -> holds
--       done  string: see mark_done
-- ->    {done, now, since, rest, facts}
--             when it was done, now (ms since the epoch), and for how many ms it counts as done
--       {not_done}
local lock, done = KEYS[1], KEYS[2]
local now = include('now')

if redis.call('type', done).ok ~= 'string' or redis.call('type', lock).ok ~= 'hash' then return {'not_done'} end
local owner, since, facts = string.match(redis.call('getrange', done, 0, 4000), '^([^\n]*)\n(%d+)\n(.*)$')
if not owner or redis.call('hexists', lock, owner) == 0 then return {'not_done'} end
return {'done', now(), tonumber(since), redis.call('pttl', lock), facts}
