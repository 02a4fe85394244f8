local waiter_of = include('waiter_of')
local note_waiter = include('note_waiter')
local may_take = include('may_take')
local holder_of = include('holder_of')
local drop_waiter = include('drop_waiter')

-- Gives `owner` its place in the line, or keeps it there. Answers its place, the length of the line, and
-- after how many ms it must say again that it lives.
local function take_place(queue, owner, needs, time)
  for _ = 1, 16 do  -- or the dead in front would hide who is first
    local first = redis.call('zrange', queue.line, 0, 0)[1]
    local waiter = first and first ~= owner and waiter_of(queue, first)
    if not first or first == owner or waiter and waiter.alive > time then break end
    drop_waiter(queue, first)
  end
  local length = redis.call('zcard', queue.line)
  local listed = redis.call('zscore', queue.line, owner)
  local known = waiter_of(queue, owner)
  if known and not listed and known.alive <= time then known = nil end
  local arrived = known and known.arrived
  if not known then
    local clock = redis.call('time')
    local now = clock[1] * 1000000 + clock[2]
    -- Behind the last, where the clock was set back since it came. (Scores beyond 2^53 are not ours.)
    local last = tonumber(redis.call('zrange', queue.line, -1, -1, 'withscores')[2] or 0)
    if last > now and last < 9007199254740992 then now = last + 1 end
    arrived = string.format('%.0f', now - queue.waited * 1000)
  end
  if not listed then length = length + 1 end
  local place = redis.call('zcount', queue.line, '-inf', '(' .. arrived) + 1
  local sleeps = place <= 5 and place * 2000 or math.min(20000 + place * 1000, 120000)
  local alive = time + 2 * sleeps + 10000
  local stays = math.max(redis.call('pttl', queue.waiters), alive - time)
  redis.call('pexpire', queue.waiters, stays)  -- first: who may not do this leaves nothing without a TTL
  redis.call('zadd', queue.line, arrived, owner)
  redis.call('pexpire', queue.line, stays)
  note_waiter(queue, owner, {
    alive = alive, arrived = arrived, needs = needs, told = 0, before = known and known.before or queue.passes,
  })
  redis.call('pexpire', queue.waiters, stays)
  redis.call('pexpire', queue.facts, stays)
  return place, length, sleeps
end

-- Is it the turn of `owner`, who needs so much, while there is so much room? Nothing: it may take the lock,
-- or has it. Else this is what its acquire answers: {'not_ours'}, or, where it waits in the line,
--   {busy, retry, rest, place, length, holder}
--     retry   worth asking again after so many ms, message or not (-1: never). Messages get lost and keys are
--             deleted by hand, so the first asks every two seconds and when the lease ends, the second a
--             little later, in its place, and the next three in place of those two. The others ask seldom,
--             only to say that they live
--     rest    of the holder's lease (-1: it has no TTL, -2: nobody holds it)
--     place   0: it has none
--     holder  one of them, '' where nobody can say
--
-- queue  (see queue_at) who waits for a lock that is not fair, of rlock's clients alone:
--          line     zset: owner -> when it arrived; nothing: nobody can wait
--          waiters  hash: owner -> see waiter_of
--          facts    hash: owner -> JSON, what it says of itself
--          waited   for how many ms this owner has waited; -1: it does not wait
--          channel  where waiters are told, each on <channel>:<owner>
--          sharded  1: by sharded pub/sub too
--          heard    how many have just heard a release; nothing: none was announced
--          passes, others
--                   see load_line
-- ours   it has the lock
-- over   this is a late copy, see is_over: it takes nothing, and no place
-- needs  how many permits; of a lock 1, or 0 to read beside others
-- room   how many permits there are; of a lock 1 where it is free, 0 where others read, -1 where another writes
-- rest   as above
-- lock   a hash with the holders; nothing: nobody can say who they are
local function in_turn(queue, owner, ours, over, needs, room, rest, lock, time)
  if over and (ours or needs <= room) then return {'not_ours'} end
  if ours then return nil end
  local may, soon = false, nil
  if needs <= room then may, soon = may_take(queue, owner, needs, room, rest, time) end
  if may then return nil end

  local holder = lock and rest ~= -2 and holder_of(lock) or ''
  if over or not queue.line or tonumber(queue.waited) < 0 then
    local length = queue.line and redis.call('zcard', queue.line) or 0
    return {'busy', soon or rest, rest, 0, length, holder}
  end
  local place, length, sleeps = take_place(queue, owner, needs, time)
  local retry = soon or sleeps
  if place <= 2 and rest >= 0 then retry = math.min(retry, rest + (place - 1) * 200) end
  return {'busy', retry, rest, place, length, holder}
end
return in_turn
