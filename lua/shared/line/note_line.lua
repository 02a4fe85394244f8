local write_note = include('line/write_note')

-- Writes down what load_line has read and the script has changed. REQUIRES: there is a waiter in the line.
local function note_line(line)
  write_note(line, '', string.format('%d %.0f', line.passes, line.others))
end
return note_line
