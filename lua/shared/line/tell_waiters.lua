local now = include('redis/now')
local waiter_of = include('line/waiter_of')
local write_note = include('line/write_note')
local tell_owner = include('line/tell_owner')
local remove_waiter = include('line/remove_waiter')
local remove_dead = include('line/remove_dead')
local tell_places = include('line/tell_places')
local load_line = include('line/load_line')

-- Notes whether clients other than rlock's wait, too (see load_line). The first two waiters of the line listen to releases. So
-- if more than two clients heard this release, other clients wait. (A holder unsubscribes before its release.) But in a line
-- of three or more, a waiter whose place has just changed may still listen. There, more than two must have heard each release
-- for 50 ms. If other clients wait, this counts for two seconds.
local function note_others(line, length, time)
  load_line(line)
  local before = line.others
  local heard_long = before > 0 and before <= time - 50
  local almost_over = before > time and before < time + 1000
  if line.heard <= math.min(length, 2) then
    if before <= time then line.others = 0 end
  elseif heard_long or almost_over or (length < 3 and before <= time) then
    line.others = time + 2000
  elseif before == 0 then
    line.others = time
  end
  if line.others ~= before then write_note(line, '') end
end

-- The message for a waiter whose turn it is. Other clients, such as Redisson's, need longer to ask than rlock's waiters. So if
-- other clients wait, too, rlock's waiter asks only after 10 ms, at two of three releases.
local function message_of(line, time)
  local length = line.heard and redis.call('zcard', line.order) or 0
  if length == 0 then return '0' end
  note_others(line, length, time)
  return line.others > time and time % 3 > 0 and 'later 10' or '0'
end

local function tell_in_order(line, room, rest_only)
  local time, place, dead = now(), 0, 0
  local message = message_of(line, time)
  while place < 500 and dead < 500 do
    local owner = redis.call('zrange', line.order, place, place)[1]
    if not owner then return '' end
    local waiter, frozen = waiter_of(line, owner, time)
    if rest_only and waiter and waiter.told > 0 then return '' end
    local too_much = waiter and waiter.needs > room
    if too_much and (room < 1 or waiter.overdue) then return '' end
    local heard, why = 0, nil
    if waiter and not too_much then heard, why = tell_owner(line, owner, message) end
    if why then return why end
    if too_much then
      place = place + 1  -- the room may serve a waiter behind it
    elseif heard == 0 then
      if waiter or frozen then remove_waiter(line, owner, frozen) else remove_dead(line, owner) end
      dead = dead + 1
    else
      waiter.told = waiter.told > 0 and waiter.told or time
      write_note(line, owner, waiter)
      place = place + 1
      if waiter.needs > 0 and waiter.needs == room then
        tell_places(line, place + 1, place + 2, 0)  -- if one of those who were told is frozen, these two ask soon
        return ''
      end
      room = waiter.needs == 0 and 0 or room - waiter.needs
    end
  end
  return ''
end

-- Tells the waiters whose turn it is: the first one, or the first readers together, or as many as `room` serves (see in_turn).
-- A waiter that cannot hear it is dead, and the next one is told. Behind 500 dead ones the function stops: the others ask by
-- themselves. A script calls it last. It never fails: it answers why waiters could not be told, or ''.
-- rest_only: `room` is what an acquire has just left over. Then the function stops at a waiter that was told before: those
-- behind it, too, were told.
-- line: see in_turn
local function tell_waiters(line, room, rest_only)
  if not line or not line.order then return '' end
  local done, why = pcall(tell_in_order, line, room, rest_only)
  if done then return why end
  return type(why) == 'table' and why.err or tostring(why)
end
return tell_waiters
