-- Are these locks free, all of them now? Changes nothing, so it may be sent twice.
--
-- KEYS  lock...  locks of any kind, read/write locks and plain token locks among them
-- ->    {free, now}      now is the server's time in ms since the epoch
--       {busy, number, pttl, owner}
--                        somebody holds this one (from 1); pttl: until it ends, -1: it has no TTL; owner: one of
--                        its holders, '' where nobody can say
--       {foreign, number, kind}
--                        something else stands there
local kind_of = include('kind_of')
local now = include('now')
local holder_of = include('holder_of')

local busy
for number, lock in ipairs(KEYS) do
  local kind = kind_of(lock)
  local rest = redis.call('pttl', lock)
  local is_token = kind == 'string' or kind == 'number' and rest >= 0  -- of plain/acquire
  local is_lock = kind == 'lock' or kind == 'read-write'
  if kind ~= 'none' and not is_token and not is_lock then return {'foreign', number, kind} end
  if kind ~= 'none' and not busy then busy = {'busy', number, rest, is_lock and holder_of(lock) or ''} end
end
return busy or {'free', now()}
