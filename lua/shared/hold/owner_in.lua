-- The owner in the name of a field of a lock: a writer's field is owner:write.
local function owner_in(field) return field:sub(-6) == ':write' and field:sub(1, -7) or field end
return owner_in
