local lives_for = include('redis/lives_for')

-- Notes that an inner hold lives until `ends`, in ms since the epoch. memory: for how many ms the server remembers the note.
-- inner: see hold/release_inner
local function join(inner, request, ends, memory)
  if not inner or not request then return end
  lives_for(inner, memory)  -- first: a client that may not PEXPIRE leaves no key without a TTL
  redis.call('zadd', inner, ends, request)
  lives_for(inner, memory)
end
return join
