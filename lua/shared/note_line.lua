local note = include('note')

-- Writes down what load_line has read, and what was changed since. REQUIRES: somebody is in the line.
local function note_line(queue)
  note(queue, '', string.format('%d %.0f', queue.passes, queue.others))
end
return note_line
