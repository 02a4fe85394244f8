-- The name of the grants (see note_grant) beside the key `request` of an acquire. entry: see answered_before
local function grants_of(request, entry) return request:gsub('[^:]*$', 'of:', 1) .. entry end
return grants_of
