-- Remembers what a release answered if its owner may acquire the lock again: a late copy must not release that hold.
-- The caller writes first what needs no memory. All parameters: see answered_before
local function remember_answer(way, request, answer, memory)
  if way == 'again' then redis.call('set', request, answer, 'px', memory) end
end
return remember_answer
