local kind_of = include('redis/kind_of')
local now = include('redis/now')
local is_late_copy = include('hold/is_late_copy')
local count_hold = include('hold/count_hold')
local in_turn = include('line/in_turn')
local leave_line = include('line/leave_line')

-- Acquires a lock that is a hash owner -> holds, or answers who holds it.
-- hold: a table with lock, owner, request, shares, lease and memory of lock/acquire. line: see line/in_turn
-- draw: only for a fenced lock: a function that answers its token, which is the third value of the answer. The argument of draw
-- says whether the owner held the lock before
-- -> what lock/acquire answers, and `had` and `passed`, see hold/all_or_none
local function take_lock(hold, line, draw)
  local lock, owner, lease = hold.lock, hold.owner, hold.lease
  local kind = kind_of(lock)
  if kind ~= 'none' and kind ~= 'lock' then return {'foreign', kind} end
  local ours = redis.call('hexists', lock, owner) == 1

  local time = now()  -- before the first write: a client that may not ask for the time acquires nothing
  local rest = redis.call('pttl', lock)
  local room = kind == 'none' and 1 or 0
  local blocked = in_turn(line, {
    owner = owner, ours = ours, over = is_late_copy(hold.request, ours), needs = 1, room = room, rest = rest, lock = lock,
    time = time,
  })
  if blocked then return blocked end

  local longest = math.max(rest, lease)
  redis.call('pexpire', lock, longest)  -- first: a client that may not PEXPIRE leaves no lock without a TTL
  local drawn = draw and draw(ours)
  redis.call('hsetnx', lock, owner, 1)
  redis.call('pexpire', lock, longest)  -- again: HSETNX may have made the key
  local adds = count_hold(hold, ours)
  if not ours then leave_line(line, owner, longest) end
  return {'held', time, drawn}, not adds, line and line.passed and line
end
return take_lock
