-- Acquire several locks: all of them or none.
-- This call may be sent twice, as lock/acquire may.
--
-- QUORUM  without the line
-- KEYS  keys...       for each member those of lock/acquire, then those of lock/release
-- ARGV  arguments...  the number of members; below zero: undo the call that acquired that many. Then for each member the number
--                     of keys of lock/acquire and of lock/release, the number of arguments of both, and the arguments
-- ->    {held, {answer, ...}}      all are acquired: the answers of lock/acquire
--       {released, {answer, ...}}  all are undone: the answers of lock/release
--       {not_all, member, answer}  this member, counted from 1, could not be acquired, and this is its answer; the others are
--                                  as before
local ask = script('lock/acquire')
local undo = script('lock/release')
local all_or_none = include('hold/all_or_none')
local give_up_place = include('line/give_up_place')
local function leave(KEYS, ARGV)
  names_of('lock/release', KEYS, ARGV)
  give_up_place(line, lock, owner)
end
return all_or_none(ask, undo, leave)
