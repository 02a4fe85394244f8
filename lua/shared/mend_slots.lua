local slot_in = include('slot_in')
local in_pieces = include('in_pieces')
local lives_for = include('lives_for')

-- Makes `slots` say what `taken` says, and lets it live for `lease` ms at least. It is written again only where it
-- is missing, or where it names more permits than are taken: another client has given some back. A name too
-- many costs its slot until then, and nothing else: who looks up a permit sees whether it is taken.
--
--   slots  zset: tail (see tail_of) -> slot, of each permit of rlock that is taken; and '' -> -1, so that it is
--          there where all permits are of other clients. With it nobody has to read all permits that are taken.
--   taken  zset: id -> end of its lease; not more than a script may read in one go
local function mend_slots(taken, slots, lease)
  lives_for(slots, lease)  -- first: who may not do this leaves nothing without a TTL
  local size = redis.call('zcard', taken)
  if size == 0 then return end
  if redis.call('type', slots).ok == 'zset' and redis.call('zcard', slots) - 1 <= size then return end
  redis.call('del', slots)
  local words = {-1, ''}
  for _, id in ipairs(redis.call('zrange', taken, 0, -1)) do
    local slot, tail = slot_in(id)
    if slot then words[#words + 1], words[#words + 2] = slot, tail end
  end
  in_pieces('zadd', slots, words)
  lives_for(slots, lease)
end
return mend_slots
