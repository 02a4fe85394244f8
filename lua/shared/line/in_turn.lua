local waiter_of = include('line/waiter_of')
local write_note = include('line/write_note')
local may_take = include('line/may_take')
local superseded_by = include('line/superseded_by')
local holder_of = include('hold/holder_of')
local remove_dead = include('line/remove_dead')
local tell_owner = include('line/tell_owner')

-- Does the owner wait with --newest?
local function has_ticket(line) return line.ticket and line.ticket > 0 end

-- Gives the owner its place in the line, or keeps it there. Answers the place, the length of the line, and after how many ms
-- the owner must say again that it is alive.
local function take_place(line, ask)
  local owner, time = ask.owner, ask.time
  for _ = 1, 16 do  -- dead waiters in front would hide the first
    local first = redis.call('zrange', line.order, 0, 0)[1]
    local waiter = first and first ~= owner and waiter_of(line, first)
    if not first or first == owner or waiter and waiter.alive > time then break end
    remove_dead(line, first)
  end
  local length = redis.call('zcard', line.order)
  local listed = redis.call('zscore', line.order, owner)
  local known = waiter_of(line, owner)
  if known and not listed and known.alive <= time then known = nil end
  local arrived, before = known and known.arrived, known and known.before
  if not known then
    local clock = redis.call('time')
    local now = clock[1] * 1000000 + clock[2]
    -- Behind the last one, if the clock was set back since that came. (A score above 2^53 is not of rlock.)
    local last = tonumber(redis.call('zrange', line.order, -1, -1, 'withscores')[2] or 0)
    if last > now and last < 9007199254740992 then now = last + 1 end
    arrived, before = string.format('%.0f', now - line.waited * 1000), line.passes
    if has_ticket(line) and line.newest.arrived ~= '0' then arrived, before = line.newest.arrived, line.newest.before end
  end
  -- A client that believes now that it stands in the line stood in one that was lost. All waiters hear this channel.
  if length == 0 then tell_owner(line, '', '0') end
  if not listed then length = length + 1 end
  local place = redis.call('zcount', line.order, '-inf', '(' .. arrived) + 1
  local sleeps = place <= 5 and place * 2000 or math.min(20000 + place * 1000, 120000)
  local alive = time + 2 * sleeps + 10000
  local stays = math.max(redis.call('pttl', line.waiters), alive - time)
  redis.call('pexpire', line.waiters, stays)  -- first: a client that may not do this leaves no key without a TTL
  redis.call('zadd', line.order, arrived, owner)
  redis.call('pexpire', line.order, stays)
  write_note(line, owner, {
    alive = alive, arrived = arrived, needs = ask.needs, told = 0, before = before,
  })
  redis.call('pexpire', line.waiters, stays)
  redis.call('pexpire', line.facts, stays)
  return place, length, sleeps
end

-- Is it the turn of `ask.owner`? nil: it may acquire the lock, or has it. Else this is what its acquire answers: {'not_ours'},
-- {'superseded', who}, see superseded_by; or, if it waits in the line,
--   {busy, retry, rest, place, length, holder}
--     retry   ask again after this many ms, with or without a message; -1: never. Messages get lost and keys are deleted by hand,
--             so the first waiter asks every two seconds and when the lease ends, the second one a little later, in case that
--             the first does not, and the next three in case that those two do not. The others ask seldom, only to say that
--             they are alive
--     rest    of the holder's lease; -1: it has no TTL, -2: there is no holder
--     place   0: it has none
--     holder  one of the holders, or ''
--
-- line   rlock's waiters for a lock that is not fair. The contract of a script makes it, see lua/embed.cmake:
--          order    zset: owner -> when it arrived; nil: there is no line
--          waiters  hash: owner -> see waiter_of
--          facts    hash: owner -> JSON, what it says of itself
--          waited   for how many ms this owner has waited; -1: it does not wait
--          channel  each waiter listens on <channel>:<owner>
--          sharded  1 to publish by sharded pub/sub, too
--          ticket   of a waiter with --newest, see newest_of; 0, nil: it waits without
--        and while the script runs:
--          heard    how many clients have just heard a release; nil: none was announced
--          passes, others
--                   see load_line
--          passed   this owner has just passed the line, see may_take
-- ask    what is asked for:
--          owner    the owner that asks
--          ours     the owner has the lock
--          over     this is a late copy, see hold/is_over: it acquires nothing, and takes no place
--          needs    the number of permits; of a lock 1, or 0 to read beside others
--          room     the number of permits that there are; of a lock 1 if it is free, 0 if others read, -1 if another writes
--          rest     as above
--          lock     a hash with the holders; nil: they are not known
--          time     see redis/now
local function in_turn(line, ask)
  local has_room, rest = ask.needs <= ask.room, ask.rest
  if ask.over and (ask.ours or has_room) then return {'not_ours'} end
  if ask.ours then return nil end
  local newer = has_ticket(line) and superseded_by(line, ask.owner, ask.time)
  if newer then return {'superseded', newer} end
  local may, soon = false, nil
  if has_room then may, soon = may_take(line, ask) end
  if may then return nil end

  local holder = ask.lock and rest ~= -2 and holder_of(ask.lock) or ''
  if ask.over or not line.order or line.waited < 0 then
    local length = line.order and redis.call('zcard', line.order) or 0
    return {'busy', soon or rest, rest, 0, length, holder}
  end
  local place, length, sleeps = take_place(line, ask)
  local retry = soon or sleeps
  if place <= 2 and rest >= 0 then retry = math.min(retry, rest + (place - 1) * 200) end
  return {'busy', retry, rest, place, length, holder}
end
return in_turn
