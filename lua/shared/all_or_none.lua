-- Asks for each member in turn; when one cannot be had, those taken before it are given back, the last first, and
-- nobody is told of it: nothing was to be had in between. With a count below zero nothing is asked for, and what the
-- same call took is given back. ask, undo: scripts of one synchronizer, as functions of KEYS and ARGV; an answer of ask
-- is an array that starts with 1 where it succeeded. queued: an earlier question may have taken places in queues.
-- Those behind the one that cannot be had are given back, since they would hold up others for nothing. What this call did
-- not take, as the second value of ask says, stays: the owner had it, and this may be a late copy.
local function all_or_none(ask, undo, queued)
  local next_key, next_argument = 1, 2
  local function keys(count)
    next_key = next_key + count
    return {unpack(KEYS, next_key - count, next_key - 1)}
  end
  local function arguments(count)
    next_argument = next_argument + count
    return {unpack(ARGV, next_argument - count, next_argument - 1)}
  end

  -- Of the next member: KEYS of ask, KEYS of undo, ARGV of ask, ARGV of undo.
  local function next_member()
    local counts = arguments(4)
    return keys(counts[1]), keys(counts[2]), arguments(counts[3]), arguments(counts[4])
  end

  local taken, answers = {}, {}
  local count = tonumber(ARGV[1])
  for member = 1, math.abs(count) do
    local ask_keys, undo_keys, ask_arguments, undo_arguments = next_member()
    local answer, had
    if count < 0 then answer = undo(undo_keys, undo_arguments) else answer, had = ask(ask_keys, ask_arguments) end
    if count > 0 and answer[1] ~= 1 then
      for i = #taken, 1, -1 do undo(taken[i][1], taken[i][2]) end
      for _ = member + 1, queued and count or member do
        local _, its_keys, _, its_arguments = next_member()
        undo(its_keys, its_arguments)
      end
      return {0, member, answer}
    end
    if not had then taken[#taken + 1] = {undo_keys, undo_arguments} end
    answers[member] = answer
  end
  return {1, answers}
end
return all_or_none
