local may_take = include('line/may_take')
local take_place = include('line/take_place')
local superseded_by = include('line/superseded_by')
local holder_of = include('hold/holder_of')

-- Is it the turn of `ask.owner`? nil: it may acquire the lock, or has it. Else the answer is what its acquire answers:
-- {'not_ours'}; {'superseded', who}, see superseded_by; or, if it must wait,
--   {busy, retry, rest, place, length, holder}
--     retry   ask again after this many ms, even without a message; negative: only after a message. Messages get lost and
--             keys are deleted by hand, so the first waiter asks every two seconds, and when the lease ends. In case the first
--             does not ask, the second one asks a little later, and the next three after that. The others ask seldom, only to
--             say that they are alive
--     rest    of the holder's lease; -1: it has no TTL, -2: there is no holder
--     place   0: it has none
--     holder  one of the holders, or ''
--
-- line   rlock's waiters for a lock that is not fair. The contract of a script makes it, see lua/contract.cmake:
--          order    zset: owner -> when it arrived; nil: there is no line
--          waiters  hash: owner -> see waiter_of
--          facts    hash: owner -> JSON, what it says of itself
--          waited   for how many ms this owner has waited; -1: it does not wait
--          channel  each waiter listens on <channel>:<owner>
--          sharded  1 to publish by sharded pub/sub, too
--          ticket   of a waiter with --newest, see newest_of; 0 or nil: a waiter without --newest
--        and while the script runs:
--          heard    how many clients have just heard a release; nil: none was announced
--          passes, others
--                   see load_line
--          passed   this owner has just passed the line, see may_take
-- ask    what is asked for:
--          owner    the owner that asks
--          ours     the owner has the lock
--          over     this is a late copy, see hold/is_late_copy: it acquires nothing, and takes no place
--          needs    the number of permits; of a lock 1, or 0 to read beside others
--          room     the number of permits that there are; of a lock 1 if it is free, else less: 0 if a reader may join in
--          rest     as above
--          lock     a hash with the holders; nil: they are not known
--          time     see redis/now
local function in_turn(line, ask)
  local has_room, rest = ask.needs <= ask.room, ask.rest
  if ask.over and (ask.ours or has_room) then return {'not_ours'} end
  if ask.ours then return nil end
  local newer = line.ticket and line.ticket > 0 and superseded_by(line, ask.owner, ask.time)
  if newer then return {'superseded', newer} end
  local may, soon, of_second = false, nil, nil
  if has_room then may, soon, of_second = may_take(line, ask) end
  if may then return nil end

  local holder = ask.lock and rest ~= -2 and holder_of(ask.lock) or ''
  if ask.over or not line.order or line.waited < 0 then
    local length = line.order and redis.call('zcard', line.order) or 0
    return {'busy', soon or rest, rest, 0, length, holder}
  end
  local place, length, sleeps = take_place(line, ask)
  local retry = soon or sleeps
  if place <= 3 and of_second then retry = math.min(retry, of_second + (place - 2) * 200) end
  if place <= 5 and rest >= 0 then retry = math.min(retry, rest + (place - 1) * 200) end
  return {'busy', retry, rest, place, length, holder}
end
return in_turn
