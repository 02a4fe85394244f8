-- Release a lock for --once-per. If lock/release keeps the lock because the work is done, this script adds the mark `done` and
-- wakes up all waiters: they need not wait.
-- This call may be sent twice, and late: only a lock that the release keeps gets the mark.
--
-- KEYS  done     string: see hold/mark_done
--       those of lock/release
-- ARGV  those of lock/release
--       done_by  facts of the owner, for people
-- ->    what lock/release answers
local release = script('lock/release')
local mark_done = include('hold/mark_done')

local answer = release(keys_of('lock/release'), ARGV)
return mark_done(done, owner, done_by, line, nil, answer)
