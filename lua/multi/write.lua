-- Acquire several write locks: all of them or none. KEYS, ARGV and answers are as those of multi/lock, for write/acquire and
-- write/release.
-- This call may be sent twice, as write/acquire may.
--
-- QUORUM  without the line
local ask = script('write/acquire')
local undo = script('write/release')
local all_or_none = include('hold/all_or_none')
local give_up_place = include('line/give_up_place')
local function leave(KEYS, ARGV)
  names_of('write/release', KEYS, ARGV)
  give_up_place(line, lock, owner)
end
return all_or_none(ask, undo, leave)
