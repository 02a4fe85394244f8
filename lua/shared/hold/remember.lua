-- Remembers what a release answered if its owner may acquire the lock again: a late copy must not release that hold.
-- The caller writes first what needs no memory. hold, answer: see hold/answered_before
local function remember(hold, answer)
  if hold.way == 'again' then redis.call('set', hold.request, answer, 'px', hold.memory) end
end
return remember
