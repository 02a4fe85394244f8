-- Take several at once: all of them or none. KEYS, ARGV and answers as those of multi/lock, for
-- plain/acquire.
-- May be sent twice, as plain/acquire may.
local ask = script('plain/acquire')
local undo = script('plain/release')
local all_or_none = include('all_or_none')
return all_or_none(ask, undo)
