-- As lua/shared/tell_waiters: nobody waits in a line.
local function tell_waiters() return '' end
return tell_waiters
