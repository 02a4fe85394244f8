-- Release one hold. If it was the owner's last one, delete the lock and wake up the waiter whose turn it is.
-- This call may be sent twice, and late: the server remembers the request that counted a hold down, so no copy counts down
-- another.
--
-- QUORUM  without the line
-- KEYS  lock     hash: owner -> holds
--       line: order, waiters, facts  optional: the waiters, see line/in_turn
--       request  optional, string: the answer to this request; for an undo, the answer to the acquire. Without it the
--                call counts no hold down, but has one key, and works while a cluster slot moves
--       keep     optional, string "<owner>\n<until>": the lock stays until then. It is written when this owner releases the hold
--                that asked for it (keep_until), while inner holds go on
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    whose hold it is
--       lease    number of milliseconds that the remaining holds keep at least
--       keep_until  number of ms since the epoch, server time: the lock stays until then; 0: it may end now
--       channel  releases are announced here, and each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       memory   for how many ms the server remembers the request
--       way      first: the owner has the lock only once, so a late copy may release what a late acquire has acquired.
--                again: the owner may acquire it again, and a late copy must not release that hold.
--                undo: the call releases nothing unless the request has acquired the lock
--       silent   1 to announce nothing on the channel; the waiters in the line are told in any case
-- ->    {released, why}  the lock is free. why: the reason why waiters could not be told; '': they were told
--       {still_held}     another hold of this owner remains, or other acquires share this one (see shares/drop_share)
--       {kept, rest}     the lock stays for this many ms, and for as long as another hold of this owner remains
--       {held_inside}    this owner has inner holds; ask again with a request
--       {not_ours}       this owner does not hold the lock; if it had a place in the line, it has left it
--       {not_ours, ''}   the hold has ended, and its owner has acquired the lock anew; a place in the line stays
local answered_before = include('hold/answered_before')
local count_down = include('hold/count_down')
local holds_of = include('hold/holds_of')
local keep_lock = include('hold/keep_lock')
local remember = include('hold/remember')
local rest_to_keep = include('hold/rest_to_keep')
local announce = include('redis/announce')
local pass_on = include('line/pass_on')

local function release_hold()
  local holds = redis.call('type', lock).ok == 'hash' and holds_of(lock, owner)
  local hold = {entry = owner, fields('owner, request, shares, keep, keep_until, way, memory')}
  local before = answered_before(hold, holds)
  if before then return before end
  if not holds then return {'not_ours'} end

  if holds > 1 then return request and count_down(lock, hold, lease) or {'held_inside'} end
  local rest = rest_to_keep(hold)
  if rest > 0 then return keep_lock(lock, hold, rest) end
  redis.call('del', lock)
  remember(hold, 1)
  return {'released', silent == '1' and '' or announce(channel, '0', sharded, line)}
end

return pass_on(line, lock, owner, release_hold())
