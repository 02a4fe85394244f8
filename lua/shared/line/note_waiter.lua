local write_note = include('line/write_note')

-- Writes down what the line knows of a waiter: see waiter_of.
local function note_waiter(line, owner, waiter)
  write_note(line, owner, string.format('%.0f %s %d %.0f %d', waiter.alive, waiter.arrived, waiter.needs, waiter.told,
    waiter.before))
end
return note_waiter
