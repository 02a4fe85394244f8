-- Take several at once: all of them or none. KEYS, ARGV and answers as those of multi/lock, for read/acquire.
-- May be sent twice, as read/acquire may.
local ask = script('read/acquire')
local undo = script('read/release')
local all_or_none = include('all_or_none')
local leave_at = include('leave_at')
return all_or_none(ask, undo, leave_at(3))
