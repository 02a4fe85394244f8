local load_line = include('line/load_line')
local write_note = include('line/write_note')

-- Takes back one pass: a newcomer has passed the line (see may_take), and has undone its acquire in the same call.
-- line: see in_turn
local function unpass(line)
  line.passes = nil
  load_line(line)
  if line.passes == 0 then return end  -- the line has ended with its last waiter
  line.passes = line.passes - 1
  write_note(line, '')
end
return unpass
