-- Acquire several fair locks: all of them or none. We keep our place in the queue of the lock that is busy, and in no other.
-- KEYS, ARGV and answers are as those of multi/lock, for fair/acquire and fair/release.
-- This call may be sent twice, as fair/acquire may.
local ask = script('fair/acquire')
local undo = script('fair/release')
local all_or_none = include('hold/all_or_none')
return all_or_none(ask, undo, undo)
