-- As once/lock_release, for a fair lock: with KEYS, ARGV and answers of fair/release.
-- May be sent twice, and late.
local done, facts = KEYS[1], ARGV[1]
local release = script('fair/release')
local mark_done = include('mark_done')
local queue_at = include('queue_at')

local answer = release({unpack(KEYS, 2)}, {unpack(ARGV, 2)})
return mark_done(done, ARGV[2], facts, queue_at(KEYS, 6, ARGV[9], ARGV[6]), KEYS[3], answer)
