-- As lua/shared/line/unpass, without a line: nobody has passed a waiter.
local function unpass() end
return unpass
