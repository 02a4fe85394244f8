local size_of = include('redis/size_of')
local unpass = include('line/unpass')

-- The members of a call for several keys, each as KEYS of ask, KEYS of undo, ARGV of ask, ARGV of undo. Their keys may hold
-- more than a script may read in one go. Then the answer also has the number of the member that passes the limit, and the key.
local function members_of(KEYS, ARGV)
  local next_key, next_argument = 1, 2
  local most = 17000  -- a whole queue of a fair lock fits: three keys of 5500 items each, see fair_queue/mended_queue
  local function take(from, first, count) return {unpack(from, first, first + count - 1)} end

  local members, seen, size = {}, {}, 0
  for member = 1, math.abs(ARGV[1]) do
    local counts = take(ARGV, next_argument, 4)
    next_argument = next_argument + 4
    local parts = {}
    for part = 1, 2 do
      parts[part] = take(KEYS, next_key, counts[part])
      next_key = next_key + counts[part]
    end
    for part = 3, 4 do
      parts[part] = take(ARGV, next_argument, counts[part])
      next_argument = next_argument + counts[part]
    end
    members[member] = parts
    for _, key in ipairs(parts[1]) do
      -- Lines of waiters do not count, because no script reads more than a part of a line (see line/in_turn).
      if not seen[key] and not string.find(key, '^redisson_unlock_latch:.*:line[:%a]*$') then size = size + size_of(key) end
      seen[key] = true
      if size > most then return members, member, key end
    end
  end
  return members
end

-- Asks for each member in turn. If one cannot be had, the function undoes those before it, the last one first. For locks that
-- are not fair, the caller makes these undos `silent` (see lock/release), because no other client saw these locks held.
-- If ARGV[1] is below zero, the function asks for nothing, and undoes what the same call acquired.
-- ask, undo: scripts of one synchronizer, as functions of KEYS and ARGV. If ask succeeds, its answer begins with 'held'. The
-- second value of ask says whether the owner held the member before. Such a member is not undone: this may be a late copy.
-- The third value is the line that the owner has passed; nil: it has passed none.
-- leave: a function of the KEYS and ARGV of undo that gives up a place in a line or queue; nil: there are no places. An earlier
-- attempt may have taken places at the members behind the busy one. They would hold up other waiters for nothing. It must not
-- release them: this may be a late copy, and the owner may have them.
local function all_or_none(ask, undo, leave)
  local gives_back = tonumber(ARGV[1]) < 0
  local members, crowded, key = members_of(KEYS, ARGV)
  if crowded and gives_back then return redis.error_reply('TOOMANY') end
  if crowded then return {'not_all', crowded, {'foreign', 'too_many', key}} end

  local function undone(member) return undo(members[member][2], members[member][4]) end
  local taken, answers, passed, rests = {}, {}, {}, {}
  for member = 1, #members do
    local answer, had
    if gives_back then
      answer = undone(member)
    else
      rests[member] = redis.call('pttl', members[member][1][1])
      answer, had, passed[member] = ask(members[member][1], members[member][3])
    end
    if not gives_back and answer[1] ~= 'held' then
      for i = #taken, 1, -1 do
        undone(taken[i])
        if rests[taken[i]] > 0 then redis.call('pexpire', members[taken[i]][1][1], rests[taken[i]]) end  -- others read
        if passed[taken[i]] then unpass(passed[taken[i]]) end
        -- The caller asks again with the same request. The mark `undone` would forbid that.
        local keys = members[taken[i]][2]
        if redis.pcall('getrange', keys[#keys], 0, 6) == 'undone' then redis.call('del', keys[#keys]) end
      end
      for i = member + 1, leave and #members or member do leave(members[i][2], members[i][4]) end
      return {'not_all', member, answer}
    end
    if not had then taken[#taken + 1] = member end
    answers[member] = answer
  end
  return {gives_back and 'released' or 'held', answers}
end
return all_or_none
