-- Acquire several token locks: all of them or none. KEYS, ARGV and answers are as those of multi/lock, for plain/acquire and
-- plain/release.
-- This call may be sent twice, as plain/acquire may.
local ask = script('plain/acquire')
local undo = script('plain/release')
local all_or_none = include('hold/all_or_none')
return all_or_none(ask, undo)
