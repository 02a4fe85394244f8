-- Forget the facts of a holder, unless it still holds; and write into the history of its key how the hold has ended.
-- No client reads the answer.
-- This call may be sent twice, and late: if the history has an end of this hold already, that one stays.
--
-- KEYS  meta     hash: owner -> JSON
--       held     optional: the key that was held; if it is left out, no owner holds any more
--       history  optional, zset: see hold/write_end. If no entry is to be written, any key
--       waits    optional: as in meta/write
-- ARGV  owner    whose facts they are
--       member   optional: the entry of the hold, see hold/holds_by
--       when     optional: whether to write an entry. 'ended': always, because the holder's command has ended, even if the key
--                stays. 'known': only if this call erases facts, because they show that the owner has held the key
--       since    optional: see hold/write_end
--       ended    optional: the same
--       entry    optional: the same
-- ->    erased
--       absent      there were no facts
--       still_held  the owner still holds
local holds_by = include('hold/holds_by')
local write_end = include('hold/write_end')

if waits then redis.call('hdel', waits, owner) end
-- An owner that reads and writes has two fields in a read/write lock. If the key has another type, HEXISTS fails.
local other_half = member == owner and owner .. ':write' or owner
local answer = 'still_held'
if not held or not holds_by(held, member) and redis.pcall('hexists', held, other_half) ~= 1 then
  answer = redis.call('hdel', meta, owner) == 1 and 'erased' or 'absent'
end
-- The history comes last: if it cannot be written, the facts are erased nevertheless.
if when == 'ended' or when == 'known' and answer == 'erased' then
  write_end(history, owner, since, ended, entry)
end
return answer
