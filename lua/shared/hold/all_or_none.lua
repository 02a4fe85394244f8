local size_of = include('redis/size_of')
local unpass = include('line/unpass')

-- The members of a call for several keys, each with the KEYS and ARGV of `ask` and those of `undo`. Their keys may hold more than
-- a script may read in one go. Then the answer also has the number of the member that passes the limit, and the key.
local function members_of(KEYS, ARGV)
  local most = 17000  -- a whole queue of a fair lock fits: three keys of 5500 items each, see fair_queue/mended_queue
  local taken = {[KEYS] = 0, [ARGV] = 1}
  local function take(from, count)
    taken[from] = taken[from] + count
    return {unpack(from, taken[from] - count + 1, taken[from])}
  end

  local members, seen, size = {}, {}, 0
  for i = 1, math.abs(ARGV[1]) do
    local counts, member = take(ARGV, 4), {}
    for part, name in ipairs({'keys', 'undo_keys', 'args', 'undo_args'}) do
      member[name] = take(part <= 2 and KEYS or ARGV, counts[part])
    end
    members[i] = member
    for _, key in ipairs(member.keys) do
      -- Lines of waiters do not count, because no script reads more than a part of a line (see line/in_turn).
      if not seen[key] and not key:find('^redisson_unlock_latch:.*:line[:%a]*$') then size = size + size_of(key) end
      seen[key] = true
      if size > most then return members, i, key end
    end
  end
  return members
end

-- Undoes what this call has acquired, the last one first. A member that the owner had before only gets its lease and its shares
-- back, because this may be a late copy.
local function give_back(taken, undo)
  for i = #taken, 1, -1 do
    local member = taken[i]
    if not member.had then
      undo(member.undo_keys, member.undo_args)
    elseif member.noted then
      redis.call('set', member.last, member.noted, 'px', redis.call('pttl', member.last))
    end
    if member.rest > 0 then redis.call('pexpire', member.keys[1], member.rest) end  -- others read, or the owner had it
    if member.passed then unpass(member.passed) end
    -- The caller asks again with the same request. The mark `undone` would forbid that.
    local request = member.undo_keys[#member.undo_keys]
    if redis.pcall('getrange', request, 0, 6) == 'undone' then redis.call('del', request) end
  end
end

-- Asks for each member in turn. If one cannot be had, the function undoes those before it, the last one first. For locks that
-- are not fair, the caller makes these undos `silent` (see lock/release), because no other client saw these locks held.
-- If ARGV[1] is below zero, the function asks for nothing, and undoes what the same call acquired.
--
-- ask, undo: scripts of one synchronizer, as functions of KEYS and ARGV. If ask succeeds, its answer begins with 'held', and
-- it returns two more values. Redis sends only the answer, so they are for scripts that call ask:
--   had     true if the call has added no hold. Such a member only gets its lease and its shares back, because this may be a
--           late copy
--   passed  the line (see line/in_turn), if the owner has passed its waiters; else nil or false. A fair lock and a token lock
--           have no such line, and answer nothing here
-- leave: a function of the KEYS and ARGV of undo that gives up a place in a line or queue; nil: there are no places. An earlier
-- attempt may have taken places at the members behind the busy one. They would hold up other waiters for nothing. It must not
-- release them: this may be a late copy, and the owner may have them.
local function all_or_none(ask, undo, leave)
  local gives_back = tonumber(ARGV[1]) < 0
  local members, crowded, key = members_of(KEYS, ARGV)
  if crowded then
    return gives_back and redis.error_reply('TOOMANY') or {'not_all', crowded, {'foreign', 'too_many', key}}
  end

  local answers, taken = {}, {}
  for number, member in ipairs(members) do
    if gives_back then
      answers[number] = undo(member.undo_keys, member.undo_args)
    else
      member.rest, member.last = redis.call('pttl', member.keys[1]), member.keys[#member.keys]
      local noted = redis.pcall('get', member.last)  -- the shares, if the owner has some
      local answer, had, passed = ask(member.keys, member.args)
      if answer[1] ~= 'held' then
        give_back(taken, undo)
        for i = number + 1, leave and #members or number do leave(members[i].undo_keys, members[i].undo_args) end
        return {'not_all', number, answer}
      end
      member.had, member.passed, member.noted = had, passed, #member.keys > 1 and type(noted) == 'string' and noted
      taken[number], answers[number] = member, answer
    end
  end
  return {gives_back and 'released' or 'held', answers}
end
return all_or_none
