-- Several keys are only undone here, and an undo keeps none: see lua/shared/hold/rest_to_keep.lua.
local function rest_to_keep() return 0 end
return rest_to_keep
