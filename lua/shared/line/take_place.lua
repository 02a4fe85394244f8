local now_micros = include('redis/now_micros')
local waiter_of = include('line/waiter_of')
local write_note = include('line/write_note')
local remove_dead = include('line/remove_dead')
local tell_owner = include('line/tell_owner')
local alive_until = include('line/alive_until')
local comes_within = include('line/comes_within')

-- Gives the owner its place in the line, or keeps it there. Answers the place, the length of the line, and after how many ms
-- the owner must say again that it is alive.
-- line, ask: see in_turn; of ask only owner, needs and time, and rest for a lock
local function take_place(line, ask)
  local owner, time = ask.owner, ask.time
  for _ = 1, 16 do  -- removes dead waiters in front, so that a living one is first
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
  -- An owner that has waited as long as a waiter may need to come (see waiter_of), and does not stand in the line, was taken for
  -- frozen, or the line was lost. It lives, so it may only be far away: from now on it has a second to come. Otherwise readers
  -- that are near would pass a distant writer again and again.
  local far = known and known.far or not listed and line.waited >= comes_within
  if not known then
    local now = now_micros()
    -- If the owner has not waited yet, it stands behind the last waiter, even if the clock was set back since that one came. (A
    -- score above 2^53 was not written by rlock.)
    local last = tonumber(redis.call('zrange', line.order, -1, -1, 'withscores')[2] or 0)
    if last >= now and last < 9007199254740992 then now = last + 1 end
    local since = now - line.waited * 1000
    arrived, before = string.format('%.0f', since), line.passes
    local newest = line.ticket and line.ticket > 0 and line.newest
    if newest and newest.arrived ~= '0' and tonumber(newest.arrived) < since then
      arrived, before = newest.arrived, newest.before
    end
  end
  -- If the line is empty, it may have been lost, and other clients may believe that they stand in it. They must ask again. All
  -- waiters listen on the channel with the empty name.
  if length == 0 then tell_owner(line, '', '0') end
  if not listed then length = length + 1 end
  local place = redis.call('zcount', line.order, '-inf', '(' .. arrived) + 1
  local alive, sleeps = alive_until(time, place)
  local stays = math.max(redis.call('pttl', line.waiters), alive - time)
  redis.call('pexpire', line.waiters, stays)  -- first: a client that may not PEXPIRE leaves no key without a TTL
  redis.call('zadd', line.order, arrived, owner)
  redis.call('pexpire', line.order, stays)
  write_note(line, owner, {
    alive = alive, arrived = arrived, needs = ask.needs, told = 0, before = before, far = far,
  })
  redis.call('pexpire', line.facts, stays)
  -- A new owner may stand in front of others, because it has waited longer or takes over a place. Then the waiters behind it
  -- move back, and the third one stops listening to the releases of other clients. A waiter that was told of its turn asks by
  -- itself.
  local rest = math.max(ask.rest or -1, -1)
  for other = place + 1, listed and 0 or 3 do
    local behind = redis.call('zrange', line.order, other - 1, other - 1)[1]
    local waiter = behind and waiter_of(line, behind)
    if waiter and waiter.told == 0 then tell_owner(line, behind, string.format('%d %.0f', other, rest)) end
  end
  return place, length, sleeps
end
return take_place
