-- Take several at once: all of them or none. KEYS, ARGV and answers as those of multi/lock, for
-- write/acquire.
-- May be sent twice, as write/acquire may.
local ask = script('write/acquire')
local undo = script('write/release')
local all_or_none = include('all_or_none')
local leave_at = include('leave_at')
return all_or_none(ask, undo, leave_at(2))
