-- As lua/shared/pass_on: everybody was told by the announcement.
local function pass_on(_, _, _, answer) return answer end
return pass_on
