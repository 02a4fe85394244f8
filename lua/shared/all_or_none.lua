-- Asks for each member in turn; when one cannot be had, those taken before it are given back, the last first, and
-- nobody is told of it: nothing was to be had in between. With a count below zero nothing is asked for, and what the
-- same call took is given back. ask, undo: scripts of one synchronizer, as functions of KEYS and ARGV; an answer of ask
-- is an array that starts with 1 where it succeeded. leaves: the members behind the one that cannot be had are undone too,
-- since a place that an earlier question took in their queues would hold up others for nothing.
local function all_or_none(ask, undo, leaves)
  local next_key, next_argument = 1, 2
  local function keys(count)
    next_key = next_key + count
    return {unpack(KEYS, next_key - count, next_key - 1)}
  end
  local function arguments(count)
    next_argument = next_argument + count
    return {unpack(ARGV, next_argument - count, next_argument - 1)}
  end

  local taken, answers = {}, {}
  local count = tonumber(ARGV[1])
  for member = 1, math.abs(count) do
    local counts = arguments(4)
    local ask_keys, undo_keys = keys(counts[1]), keys(counts[2])
    local ask_arguments, undo_arguments = arguments(counts[3]), arguments(counts[4])
    local answer = count < 0 and undo(undo_keys, undo_arguments) or ask(ask_keys, ask_arguments)
    if count > 0 and answer[1] ~= 1 then
      for i = #taken, 1, -1 do undo(taken[i][1], taken[i][2]) end
      for _ = member + 1, leaves and count or 0 do
        local more = arguments(4)
        local _, its_undo_keys, _, its_undo_arguments = keys(more[1]), keys(more[2]), arguments(more[3]), arguments(more[4])
        undo(its_undo_keys, its_undo_arguments)
      end
      return {0, member, answer}
    end
    taken[member] = {undo_keys, undo_arguments}
    answers[member] = answer
  end
  return {1, answers}
end
return all_or_none
