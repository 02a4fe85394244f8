-- For how many ms a waiter may be on its way after it was told of its turn, unless it is far away.
local comes_within = 250
return comes_within
