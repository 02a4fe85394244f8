-- The answer of a release after which its owner has another hold. rest: see hold/rest_to_keep
local function kept_or_held(rest)
  return rest > 0 and {'kept', rest} or {'still_held'}
end
return kept_or_held
