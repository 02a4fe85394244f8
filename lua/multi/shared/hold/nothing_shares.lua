-- An undo keeps nothing.
local function nothing_shares() end
return nothing_shares
