-- Release one write hold. If it was the owner's last one, delete the lock, or leave it to the owner's read holds. Then wake up
-- the waiters whose turn it is.
-- This call may be sent twice, and late: the server remembers the request that counted a hold down, so no copy counts down
-- another.
--
-- QUORUM  without the line
-- KEYS  lock     hash: mode -> write, owner -> read holds, owner:write -> write holds
--       line: order, waiters, facts  optional: the waiters, see line/in_turn
--       request  optional, string: the answer to this request; for an undo, the answer to the acquire. Without it the
--                call counts no hold down, but has one key, and works while a cluster slot moves
--       keep     optional, string: as in lock/release
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  those of lock/release
-- ->    {released, why}  why: the reason why waiters could not be told; '': they were told
--       {still_held}     another hold of this owner remains, or other acquires share this one (see shares/drop_share)
--       {kept, rest}     the lock stays for this many ms, and for as long as another hold of this owner remains. If that is a
--                        read hold, the mode stays `write` nevertheless: other readers wait, too
--       {held_inside}    this owner has inner holds; ask again with a request
--       {not_ours}       this owner has no write hold; if it had a place in the line, it has left it
--       {not_ours, ''}   the hold has ended, and its owner has acquired the lock anew; a place in the line stays
local answered_before = include('hold/answered_before')
local count_down = include('hold/count_down')
local holds_of = include('hold/holds_of')
local keep_lock = include('hold/keep_lock')
local remember = include('hold/remember')
local rest_to_keep = include('hold/rest_to_keep')
local announce = include('redis/announce')
local field_of = include('redis/field_of')
local pass_on = include('line/pass_on')

local function release_hold()
  local field = owner .. ':write'
  local writes = redis.call('type', lock).ok == 'hash' and field_of(lock, 'mode', 5) == 'write'
  local holds = writes and holds_of(lock, field)
  local hold = {entry = field, fields('owner, request, shares, keep, keep_until, way, memory')}
  local before = answered_before(hold, holds)
  if before then return before end
  if not holds then return {'not_ours'} end

  if holds > 1 then return request and count_down(lock, hold, lease) or {'held_inside'} end
  local reads = redis.call('hlen', lock) > 2
  if reads then redis.call('hdel', lock, field) end  -- first: it needs no memory
  local rest = rest_to_keep(hold, reads)
  if rest > 0 then return keep_lock(lock, hold, rest, reads) end
  if reads then
    redis.call('hset', lock, 'mode', 'read')
  else
    redis.call('del', lock)
  end
  remember(hold, 1)
  return {'released', silent == '1' and '' or announce(channel, '1', sharded, line)}
end

return pass_on(line, lock, owner, release_hold())
