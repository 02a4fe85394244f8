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
--       grants   optional, string: of an owner that may return, see hold/note_grant
-- ARGV  those of lock/release
--       beside   see hold/rest_of_reader
-- ->    {released, why}  why: the reason why waiters could not be told; '': they were told, or the key is still held
--       {still_held}     another hold of this owner remains, or other acquires share this one (see hold/drop_grant)
--       {kept, rest}     the hold stays for this many ms, and for as long as another hold of this owner remains
--       {not_ours}       this owner has no read hold; if it had a place in the line, it has left it
--       {not_ours, ''}   the hold has ended, and its owner has acquired the lock anew; a place in the line stays
local answered_before = include('hold/answered_before')
local remember_answer = include('hold/remember_answer')
local readers_left = include('hold/readers_left')
local rest_to_keep = include('hold/rest_to_keep')
local nothing_shares = include('hold/nothing_shares')
local announce = include('redis/announce')
local field_of = include('redis/field_of')
local pass_on = include('line/pass_on')

local function release_hold()
  local mode = redis.call('type', lock).ok == 'hash' and field_of(lock, 'mode', 5)
  local holds = tonumber((mode and field_of(lock, owner, 15) or ''):match('^[1-9]%d*$'))
  local before = answered_before(request, way, memory, keep, owner, keep_until, grants, owner, holds)
  if before then return before end
  if not holds then return {'not_ours'} end

  if holds > 1 then
    redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
    if redis.call('pttl', timeout) < lease then redis.call('set', timeout, 1, 'px', lease) end
    local rest = rest_to_keep(keep, owner, keep_until, 'goes_on')
    if way ~= 'undo' then redis.call('set', request, 0, 'px', memory) end
    redis.call('hincrby', lock, owner, -1)
    return rest > 0 and {'kept', rest} or {'still_held'}
  end

  local alone = redis.call('hlen', lock) == 2
  -- If this owner also writes, the release of its write hold reads the note instead.
  local rest = rest_to_keep((alone or mode == 'read') and keep, owner, keep_until)
  if rest > 0 then
    redis.call('pexpire', lock, alone and rest or math.max(redis.call('pttl', lock), rest))  -- first: it needs no memory
    redis.call('set', timeout, 1, 'px', rest)
    nothing_shares(request, owner, rest)
    remember_answer(way, request, 0, memory)
    return {'kept', rest}
  end

  redis.call('hdel', lock, owner)
  redis.call('del', timeout)
  remember_answer(way, request, 1, memory)
  if not alone and (mode == 'write' or readers_left(lock, 100, beside)) then return {'released', ''} end
  redis.call('del', lock)
  return {'released', silent == '1' and '' or announce(channel, '0', sharded, line)}
end

return pass_on(line, lock, owner, release_hold())
