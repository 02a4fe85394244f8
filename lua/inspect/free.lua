-- Ask whether all of these locks are free now. This script changes nothing, so it may be sent twice.
--
-- KEYS  locks...  locks of any kind, read/write locks and plain token locks among them
-- ->    {free, now}      now is the server's time in ms since the epoch
--       {busy, number, rest, owner}
--                        this lock, counted from 1, is held. rest: until it ends, -1: it has no TTL. owner: one of its holders,
--                        or ''
--       {foreign, number, kind}
--                        this key holds something else
local kind_of = include('redis/kind_of')
local now = include('redis/now')
local holder_of = include('hold/holder_of')

local busy
for number, lock in ipairs(locks) do
  local kind = kind_of(lock)
  local rest = redis.call('pttl', lock)
  local is_token = kind == 'string' or kind == 'number' and rest >= 0  -- of plain/acquire
  local is_lock = kind == 'lock' or kind == 'read-write'
  if kind ~= 'none' and not is_token and not is_lock then return {'foreign', number, kind} end
  if kind ~= 'none' and not busy then busy = {'busy', number, rest, is_lock and holder_of(lock) or ''} end
end
return busy or {'free', now()}
