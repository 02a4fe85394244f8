-- Take several at once: all of them or none. KEYS, ARGV and answers as those of multi/lock, for
-- fenced/acquire.
-- May be sent twice, as fenced/acquire may.
local ask = script('fenced/acquire')
local undo = script('lock/release')
local all_or_none = include('all_or_none')
local leave_at = include('leave_at')
return all_or_none(ask, undo, leave_at(2))
