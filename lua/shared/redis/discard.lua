-- Deletes a key that may be large: the server frees its memory in the background, and answers other clients meanwhile.
local function discard(key)
  if type(redis.pcall('unlink', key)) == 'table' then redis.call('del', key) end  -- an ACL may know only DEL
end
return discard
