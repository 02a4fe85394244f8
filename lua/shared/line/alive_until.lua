-- Until when a waiter that stands in this place, and has just asked, counts as alive; and after how many ms it asks again.
--
-- The first asks every two seconds, in case a message is lost. The next four do that for a first that does not ask, each two
-- seconds after the one before it. The others only say that they are alive. The longer the line, the seldomer they do, so that a
-- crowd costs the server little: the hundredth every two minutes. A waiter that misses one turn keeps its place, with ten seconds
-- to spare.
local function alive_until(time, place)
  local sleeps = place <= 5 and place * 2000 or math.min(20000 + place * 1000, 120000)
  return time + 2 * sleeps + 10000, sleeps
end
return alive_until
