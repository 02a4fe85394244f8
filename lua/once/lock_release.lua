-- Release a lock whose work is done, for --once-per: lock/release keeps it, and this script adds a mark. By the mark other runs
-- know that they need not wait.
-- This call may be sent twice, and late: only a hold that the release keeps is marked.
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
