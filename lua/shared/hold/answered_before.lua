local undone_before = include('hold/undone_before')
local drop_share = include('shares/drop_share')
local has_share = include('shares/has_share')
local kept_or_held = include('hold/kept_or_held')
local rest_to_keep = include('hold/rest_to_keep')

-- Answers a release or an undo that was done before, or that leaves the hold to other acquires. If it must be done now, answers
-- nil. If not_ours has a second value, the hold has ended, and a place in the line belongs to another acquire of the owner.
-- has: the owner has the hold. permit/release leaves it out, and takes its acquire out of the shares itself
--
-- hold: what the release is about. lock/release, read/release, write/release, plain/release and permit/release make this table,
-- and hand it to the functions of this folder. (Acquires have another one, see hold/take_lock.) Its fields:
--   owner       whose hold it is
--   entry       how the lock names the hold: the owner; a write hold by its field <owner>:write
--   request     optional, key of a string: the answer to this request, for late copies. 0: the lock stayed (still_held or kept).
--               1: it was released. If `way` is 'undo': what the acquire has written, then `undone`
--   way         'first', 'again' or 'undo', see lock/release
--   memory      for how many ms the server remembers the request
--   shares      optional, key of a string: the acquires that share the hold, see shares/read_shares
--   keep        optional, key of a string "<owner>\n<until>": the lock stays until then, see lock/release. A read hold has none
--               if its owner also writes
--   keep_until  number: this release demands that the lock stays until then, in ms since the epoch; 0: it may end now
local function answered_before(hold, has)
  local request = hold.request
  if not request then return end
  if hold.way == 'undo' then return undone_before(hold) end
  local answer = redis.call('get', request)
  if answer == '1' then return {'released', ''} end
  if not answer then
    if not has_share(hold.shares, request) then return {'not_ours', ''} end
    if not has or not drop_share(hold.shares, request, hold.memory) then return end
    redis.call('set', request, 0, 'px', hold.memory)
  end
  return kept_or_held(rest_to_keep(hold, not answer))
end
return answered_before
