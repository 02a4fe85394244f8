-- Acquire several fenced locks: all of them or none. KEYS, ARGV and answers are as those of multi/lock, for fenced/acquire and
-- lock/release.
-- This call may be sent twice, as fenced/acquire may.
local ask = script('fenced/acquire')
local undo = script('lock/release')
local all_or_none = include('hold/all_or_none')
local give_up_place = include('line/give_up_place')
local function leave(KEYS, ARGV)
  names_of('lock/release', KEYS, ARGV)
  give_up_place(line, lock, owner)
end
return all_or_none(ask, undo, leave)
