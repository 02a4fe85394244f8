-- Take several fair locks: all of them or none. In the queue of the one that cannot be had our place is kept,
-- in no other.
-- May be sent twice, as fair/acquire may. KEYS, ARGV and answers as those of multi/lock.
local ask = script('fair/acquire')
local undo = script('fair/release')
local all_or_none = include('all_or_none')
return all_or_none(ask, undo, undo)
