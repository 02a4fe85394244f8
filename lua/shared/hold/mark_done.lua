local now = include('redis/now')
local tell_each = include('line/tell_each')
local tell_all = include('line/tell_all')
local announce = include('redis/announce')

-- For a release that keeps the lock because its work is done. Writes a mark that lasts as long as the lock stays, and tells
-- the waiters to ask again. `answer` is the answer of the release, and of this function. A reader of the mark must check that
-- `owner` still has the lock: the lock may have been deleted by force, and acquired again.
-- done: string "<owner>\n<when, ms since the epoch>\n<facts>"; line: see line/in_turn; queue: of a fair lock, else nil
local function mark_done(done, owner, facts, line, queue, answer)
  if answer[1] ~= 'kept' then return answer end
  redis.call('set', done, owner .. '\n' .. string.format('%.0f', now()) .. '\n' .. facts, 'px', answer[2])
  tell_all(line)
  pcall(function() if queue then tell_each(line, redis.call('lrange', queue.order, 0, 999)) end end)
  announce(line.channel, '0', line.sharded)
  return answer
end
return mark_done
