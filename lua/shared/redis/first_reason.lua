-- The first of these texts that is not empty: why a message was not published. '': all were published.
local function first_reason(...)
  for _, why in ipairs({...}) do
    if why ~= '' then return why end
  end
  return ''
end
return first_reason
