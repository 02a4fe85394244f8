-- The key of an acquire, and its id, which is the last part of that key: 32 digits.
-- request: the key of the acquire, or of its release, which has ':released' behind it
local function acquire_of(request)
  local acquire = request:gsub(':released$', '')
  return acquire, acquire:match('[^:]*$')
end
return acquire_of
