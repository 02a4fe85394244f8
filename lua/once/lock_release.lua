-- Keep a lock whose work is done, for --once-per: lock/release, and a mark that says so, by which other runs know
-- that they need not wait.
-- May be sent twice, and late: only a hold that the release keeps is marked.
--
-- KEYS  done   string: see mark_done
--       ...    those of lock/release, all of them
-- ARGV  facts  who has done it, for people
--       ...    those of lock/release
-- ->    what lock/release answers
local done, facts = KEYS[1], ARGV[1]
local release = script('lock/release')
local mark_done = include('mark_done')
local queue_at = include('queue_at')

local answer = release({unpack(KEYS, 2)}, {unpack(ARGV, 2)})
return mark_done(done, ARGV[2], facts, queue_at(KEYS, 3, ARGV[9], ARGV[6]), nil, answer)
