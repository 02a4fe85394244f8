-- Take several locks: all of them or none.
-- May be sent twice, as lock/acquire may.
--
-- KEYS  for each member: those of lock/acquire, then those of lock/release
-- ARGV  how many members, below zero: undo what the call with this many took; then for each: how many keys
--       and how many keys, how many arguments and how many arguments these two have, and their arguments
-- ->    {held, {answer, ...}}  every one: the answers of lock/acquire
--       {released, {answer, ...}}
--                              undone: the answers of lock/release
--       {not_all, member, answer}
--                              this one (from 1) cannot be had, because of this; the others are as they were
local ask = script('lock/acquire')
local undo = script('lock/release')
local all_or_none = include('all_or_none')
local leave_at = include('leave_at')
return all_or_none(ask, undo, leave_at(2))
