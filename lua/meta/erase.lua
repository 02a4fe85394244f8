-- Forget what was written down about a holder, unless it still holds; and write into the history of its key how
-- the hold has ended. Nobody reads the answer.
-- May be sent twice, and late: an end of this hold that is written already is the one that counts.
--
-- KEYS  meta     hash: owner -> JSON
--       held     what was held; nothing: nobody can hold it any more
--       waits    optional: as in meta/write
--       history  with an entry, the last key: zset, see write_end
-- ARGV  owner    whose facts
--       member   the evidence that it held: see holds_by
--       when     optional, with those of write_end behind it: when an entry is written. ended: in any case, its
--                command has ended; known: if its facts are erased here, so the hold of somebody else has ended
--       ...
-- ->    erased
--       absent      nothing was known
--       still_held  the owner still holds
local meta, held = KEYS[1], KEYS[2]
local owner, member, when = ARGV[1], ARGV[2], ARGV[3]
local holds_by = include('holds_by')
local write_end = include('write_end')

local waits = #KEYS > (when and 3 or 2) and KEYS[3]
if waits then redis.call('hdel', waits, owner) end
-- Who reads and writes has two fields of a read/write lock; of anything else this is an error.
local other_half = member == owner and owner .. ':write' or owner
local answer = 'still_held'
if not held or not holds_by(held, member) and redis.pcall('hexists', held, other_half) ~= 1 then
  answer = redis.call('hdel', meta, owner) == 1 and 'erased' or 'absent'
end
-- Last: what cannot be written there must not keep the facts.
if when == 'ended' or when == 'known' and answer == 'erased' then
  write_end(KEYS[#KEYS], owner, ARGV[4], ARGV[5], ARGV[6])
end
return answer
