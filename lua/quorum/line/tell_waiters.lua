-- As lua/shared/line/tell_waiters, without a line.
local function tell_waiters() return '' end
return tell_waiters
