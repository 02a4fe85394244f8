-- Acquire several read locks: all of them or none. KEYS, ARGV and answers are as those of multi/lock, for read/acquire and
-- read/release.
-- This call may be sent twice, as read/acquire may.
--
-- QUORUM  without the line
local ask = script('read/acquire')
local undo = script('read/release')
local all_or_none = include('hold/all_or_none')
local give_up_place = include('line/give_up_place')
local function leave(KEYS, ARGV)
  names_of('read/release', KEYS, ARGV)
  give_up_place(line, lock, owner)
end
return all_or_none(ask, undo, leave)
