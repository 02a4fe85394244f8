local now = include('now')
local tell_each = include('tell_each')
local tell_line = include('tell_line')
local announce = include('announce')

-- After a release that keeps the key because its work is done: writes that down, for as long as the key stays,
-- and tells all who wait. `answer`: that of the release, which this answers too. Who reads the mark must look
-- whether `owner` still has the lock: it may have been removed by force, and taken again.
-- done: string, "<owner>\n<when, ms since the epoch>\n<facts>"; queue: see in_turn; fair: list, see fair/acquire
local function mark_done(done, owner, facts, queue, fair, answer)
  if answer[1] ~= 'kept' then return answer end
  redis.call('set', done, owner .. '\n' .. string.format('%.0f', now()) .. '\n' .. facts, 'px', answer[2])
  tell_line(queue)
  pcall(function() if fair then tell_each(queue, redis.call('lrange', fair, 0, 999)) end end)
  announce(queue.channel, '0', queue.sharded)
  return answer
end
return mark_done
