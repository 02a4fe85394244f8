-- Release one read hold. If no hold of any owner is left, or only those of dead readers, delete the lock and wake up the waiters.
-- This call may be sent twice, and late: the server remembers the request that counted a hold down, so no copy counts down
-- another.
--
-- QUORUM  without the line
-- KEYS  lock     hash: mode -> read or write, owner -> read holds, owner:write -> write holds
--       timeout  string: the read holds of this owner count while it exists
--       line: order, waiters, facts  the waiters, see line/in_turn
--       request  string: the answer to this request; for an undo, the answer to the acquire
--       keep     optional, string: as in lock/release
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  those of lock/release
--       beside   see hold/rest_of_reader
-- ->    {released, why}  why: the reason why waiters could not be told; '': they were told, or the key is still held
--       {still_held}     another hold of this owner remains, or other acquires share this one (see shares/drop_share)
--       {kept, rest}     the hold stays for this many ms, and for as long as another hold of this owner remains
--       {not_ours}       this owner has no read hold; if it had a place in the line, it has left it
--       {not_ours, ''}   the hold has ended, and its owner has acquired the lock anew; a place in the line stays
local answered_before = include('hold/answered_before')
local count_down = include('hold/count_down')
local holds_of = include('hold/holds_of')
local keep_lock = include('hold/keep_lock')
local readers_left = include('hold/readers_left')
local remember = include('hold/remember')
local rest_to_keep = include('hold/rest_to_keep')
local announce = include('redis/announce')
local field_of = include('redis/field_of')
local pass_on = include('line/pass_on')

local function release_hold()
  local mode = redis.call('type', lock).ok == 'hash' and field_of(lock, 'mode', 5)
  local holds = mode and holds_of(lock, owner)
  local hold = {entry = owner, fields('owner, request, shares, keep, keep_until, way, memory')}
  local before = answered_before(hold, holds)
  if before then return before end
  if not holds then return {'not_ours'} end

  if holds > 1 then return count_down(lock, hold, lease, timeout) end
  local alone = redis.call('hlen', lock) == 2
  if not alone and mode ~= 'read' then hold.keep = nil end  -- the release of its write hold reads the note instead
  local rest = rest_to_keep(hold)
  if rest > 0 then return keep_lock(lock, hold, rest, not alone, timeout) end
  redis.call('hdel', lock, owner)
  redis.call('del', timeout)
  remember(hold, 1)
  if not alone and (mode == 'write' or readers_left(lock, 100, beside)) then return {'released', ''} end
  redis.call('del', lock)
  return {'released', silent == '1' and '' or announce(channel, '0', sharded, line)}
end

return pass_on(line, lock, owner, release_hold())
