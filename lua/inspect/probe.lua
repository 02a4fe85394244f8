-- Find out whether this client may write a lock, and whether the server takes writes. This script changes nothing: each command
-- that writes has an argument that the server refuses only after it has checked the rights and the replicas.
--
-- KEYS  lock  any key
-- ->    {able}
--       {unable, error}  the error of the server that a lock would meet
local tries = {
  {'pexpire', lock, 'odd'},  -- first, as in lock/acquire: it needs no memory
  {'hset', lock, 'owner', 1, 'odd'}, {'hincrby', lock, 'owner', 'odd'}, {'set', lock, 1, 'px', 'odd'},
}
for _, command in ipairs(tries) do
  local answer = redis.pcall(unpack(command))
  local why = type(answer) == 'table' and answer.err or 'ERR wrote a lock'
  if not string.find(why, 'not an integer') and not string.find(why, 'wrong number of arguments') then return {'unable', why} end
end
-- The server refuses no argument of the first two, so they are not called. The rest only reads. Since Redis 7 a script can ask
-- for the rights.
local others = {
  {'hsetnx', lock, 'owner', 1}, {'del', lock}, {'time'}, {'type', lock}, {'exists', lock}, {'pttl', lock}, {'get', lock},
  {'hget', lock, 'owner'}, {'hexists', lock, 'owner'}, {'zscore', lock, 'owner'}, {'zcard', lock}, {'zrange', lock, 0, 0},
}
for i, command in ipairs(others) do
  local may_be_large = command[1] == 'get' and redis.pcall('exists', lock) ~= 0
  if redis.acl_check_cmd then
    if not redis.acl_check_cmd(unpack(command)) then
      return {'unable', 'NOPERM this user has no permissions to run the \'' .. command[1] .. '\' command'}
    end
  elseif i > 2 and not may_be_large then
    local answer = redis.pcall(unpack(command))
    local why = type(answer) == 'table' and answer.err
    if why and not string.find(why, 'WRONGTYPE') then return {'unable', why} end
  end
end
return {'able'}
