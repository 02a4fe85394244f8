-- Acquire the lock, or answer who holds it and for how long at most.
-- This call may be sent twice: the second copy changes no count.
-- The work is in lua/shared/hold/take_lock.lua, which fenced/acquire also uses. The names of KEYS and ARGV are locals, and `line`
-- has the members that its row names: lua/embed.cmake makes them.
--
-- QUORUM  without the line
-- KEYS  lock     hash: owner -> holds. Its TTL is the lease; this script never shortens a TTL, and a lock that has none gets one
--       line: order, waiters, facts  optional: the waiters, see line/in_turn. If a call leaves out `line` and `request`, it has
--                                    one key, and works while a cluster slot moves
--       request  optional, string: records that this request has acquired the lock. It is needed if the owner may acquire the
--                lock again. Then an undo ends only this hold, and a late copy of the call acquires nothing
--       shares   optional, string: of an owner that may return, see shares/read_shares
-- ARGV  owner    the owner that asks
--       lease    number of milliseconds, at least 1
--       memory   for how many ms the server remembers the request
--       waited   number of ms that this owner has waited; -1: it does not wait
--       channel  each waiter listens on <channel>:<owner>
--       sharded  1 to publish by sharded pub/sub, too
--       ticket   optional, number that newest/arrive gave to a waiter with --newest; 0: a waiter without --newest
-- ->    {held, now}      now is the server's time in ms since the epoch
--       {busy, ...}      see line/in_turn
--       {superseded, who} see line/superseded_by
--       {not_ours}       this is a late copy: the hold that it acquired has ended
--       {foreign, kind}  the key holds something else
-- A script that calls this one gets two more values with {held, ...}: see hold/all_or_none.
local take_lock = include('hold/take_lock')

local hold = {lock = lock, owner = owner, request = request, shares = shares, lease = lease, memory = memory}
return take_lock(hold, line)
