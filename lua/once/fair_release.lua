-- As once/lock_release, for a fair lock.
-- This call may be sent twice, and late.
--
-- KEYS  done     string: see hold/mark_done
--       those of fair/release
-- ARGV  those of fair/release
--       done_by  facts of the owner, for people
-- ->    what fair/release answers
local release = script('fair/release')
local mark_done = include('hold/mark_done')

local answer = release(keys_of('fair/release'), ARGV)
return mark_done(done, owner, done_by, line, queue, answer)
