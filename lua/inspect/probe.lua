-- Find out whether this client may write a lock, and whether the server takes writes. This script changes nothing: each command
-- that writes has an argument that the server refuses only after it has checked the rights and the replicas.
--
-- KEYS  lock  any key
--       more  optional: the server checks only the rights to them
-- ->    {able}
--       {unable, error}  the error of the server that a lock would meet
local tries = {
  {'pexpire', lock, 'odd'},  -- first, as in lock/acquire: it needs no memory
  {'hset', lock, 'owner', 1, 'odd'}, {'hincrby', lock, 'owner', 'odd'}, {'set', lock, 1, 'px', 'odd'},
}
for _, command in ipairs(tries) do
  local answer = redis.pcall(unpack(command))
  local why = type(answer) == 'table' and answer.err or 'ERR wrote a lock'
  if not why:find('not an integer') and not why:find('wrong number of arguments') then return {'unable', why} end
end
-- The server refuses no argument of these, so they are not called. Since Redis 7 a script can ask for the rights.
local writes = {
  {'hsetnx', lock, 'owner', 1}, {'hdel', lock, 'owner'}, {'del', lock}, {'zadd', lock, 1, 'owner'}, {'zrem', lock, 'owner'},
}
local reads = {
  {'time'}, {'type', lock}, {'exists', lock}, {'pttl', lock}, {'get', lock}, {'hget', lock, 'owner'}, {'hexists', lock, 'owner'},
  {'hlen', lock}, {'hstrlen', lock, 'owner'}, {'hscan', lock, '0', 'count', 1}, {'hkeys', lock}, {'zscore', lock, 'owner'},
  {'zcard', lock}, {'zcount', lock, 0, 1}, {'zrange', lock, 0, 0},
}
local whole = {get = true, hkeys = true}  -- they read all of a value, so they are not called if the key exists
for _, commands in ipairs({writes, reads}) do
  for _, command in ipairs(commands) do
    if redis.acl_check_cmd then
      if not redis.acl_check_cmd(unpack(command)) then
        return {'unable', 'NOPERM this user has no permissions to run the \'' .. command[1] .. '\' command'}
      end
    elseif commands == reads and not (whole[command[1]] and redis.pcall('exists', lock) ~= 0) then
      local answer = redis.pcall(unpack(command))
      local why = type(answer) == 'table' and answer.err
      if why and not why:find('WRONGTYPE') then return {'unable', why} end
    end
  end
end
return {'able'}
