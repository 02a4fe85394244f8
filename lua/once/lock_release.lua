-- Release a lock for --once-per. If lock/release keeps the lock because the work is done, this script adds the mark `done` and
-- wakes up all waiters: they need not wait.
-- This call may be sent twice, and late: only a lock that the release keeps gets the mark.
--
-- KEYS  those of lock/release
--       done     string: see hold/mark_done
-- ARGV  those of lock/release
--       done_by  facts of the owner, for people
-- ->    what lock/release answers
local release = script('lock/release')
local mark_done = include('hold/mark_done')

local answer = release(KEYS, ARGV)
return mark_done(done, owner, done_by, line, nil, answer)
