-- The end of the lease of a permit that has none, as Redisson writes it.
local no_lease = 922337203685477
return no_lease
