-- As lua/shared/line/pass_on, without a line: the announcement told all waiters.
local function pass_on(_, _, _, answer) return answer end
return pass_on
