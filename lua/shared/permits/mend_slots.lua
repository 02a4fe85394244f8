local slot_in = include('permits/slot_in')
local in_pieces = include('redis/in_pieces')
local lives_for = include('redis/lives_for')

-- Makes `slots` agree with `taken`, and lets it live for `lease` ms at least. The function deletes it if no permit is taken. It
-- writes it anew only if it is missing, or if it has more entries than permits are taken: then another client has released
-- some. Until then the entry of a released permit occupies its slot and does no other harm: a lookup checks that the permit is
-- taken.
--
--   slots  zset: tail (see tail_of) -> slot, of each permit of rlock that is taken. It also has '' -> -1, so that it exists even
--          if all permits are of other clients. While it exists, no script has to read all permits that are taken.
--   taken  zset: id -> end of its lease; no more than a script may read in one go. If it has more than 10,000, no permit can be
--          acquired (permit/acquire). Then no script needs a free slot, and `slots` stays as it is, even if it is missing
local function mend_slots(taken, slots, lease)
  lives_for(slots, lease)  -- first: a client that may not PEXPIRE leaves no key without a TTL
  local size = redis.call('zcard', taken)
  if size == 0 then redis.call('del', slots) end
  if size == 0 or size > 10000 then return end
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
