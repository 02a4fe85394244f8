-- Take several at once: all of them or none. KEYS, ARGV and answers as those of multi/lock, for read/acquire.
-- May be sent twice, as read/acquire may.
local ask = script('read/acquire')
local undo = script('read/release')
local all_or_none = include('all_or_none')
local leave_place = include('leave_place')
local queue_at = include('queue_at')
local function leave(KEYS, ARGV)
  leave_place(queue_at(KEYS, 3, ARGV[8], ARGV[5]), KEYS[1], ARGV[1])
end
return all_or_none(ask, undo, leave)
