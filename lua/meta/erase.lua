-- Forget what was written down about a holder, unless it still holds. Nobody reads the answer.
-- May be sent twice.
--
-- KEYS  meta    hash: owner -> JSON
--       held    what was held; nothing: nobody can hold it any more
--       waits   optional: as in meta/write
-- ARGV  owner   whose facts
--       member  the evidence that it held: see holds_by
-- ->    erased
--       absent      nothing was known
--       still_held  the owner still holds
local meta, held, waits = KEYS[1], KEYS[2], KEYS[3]
local owner, member = ARGV[1], ARGV[2]
local holds_by = include('holds_by')

if waits then redis.call('hdel', waits, owner) end
if held and holds_by(held, member) then return 'still_held' end
return redis.call('hdel', meta, owner) == 1 and 'erased' or 'absent'
