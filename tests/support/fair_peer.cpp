#include "support/fair_peer.h"

#include "redis/script.h"
#include "sync/calls/keys.h"

namespace rlock::test {
namespace {

constexpr const char* kCommon = R"(
local lock, queue, deadlines, channel = KEYS[1], KEYS[2], KEYS[3], ARGV[3]
local owner, wait = ARGV[1], tonumber(ARGV[2])
local clock = redis.call('time')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[4]

local function score(member) return tonumber(redis.call('zscore', deadlines, member) or nil) end
local function text(number) return string.format('%.0f', number) end

local function drop_heads()
  while true do
    local head = redis.call('lindex', queue, 0)
    if not head or not score(head) or score(head) > now then return end
    redis.call('zrem', deadlines, head)
    redis.call('lpop', queue)
  end
end

local function take()
  local head = redis.call('lindex', queue, 0)
  if redis.call('exists', lock) == 0 and (not head or head == owner) then
    redis.call('lpop', queue)
    redis.call('zrem', deadlines, owner)
    for _, other in ipairs(redis.call('zrange', deadlines, 0, -1)) do redis.call('zincrby', deadlines, text(-wait), other) end
    redis.call('hset', lock, owner, 1)
    redis.call('pexpire', lock, 30000)
    return true
  end
  if redis.call('hexists', lock, owner) == 1 then
    redis.call('hincrby', lock, owner, 1)
    return true
  end
end
)";

constexpr const char* kTryOnce = "drop_heads() return take() and 1 or 0";

constexpr const char* kTryQueued = R"(
drop_heads()
if take() then return 1 end
if score(owner) then return 0 end
local last = redis.call('lindex', queue, -1)
local behind = last and last ~= owner and score(last) and score(last) - now or redis.call('pttl', lock)
if redis.call('zadd', deadlines, text(behind + wait + now), owner) == 1 then redis.call('rpush', queue, owner) end
return 0
)";

constexpr const char* kUnlock = R"(
drop_heads()
if redis.call('exists', lock) == 1 then
  if redis.call('hexists', lock, owner) == 0 then return 0 end
  if redis.call('hincrby', lock, owner, -1) > 0 then return 1 end
  redis.call('del', lock)
end
local head = redis.call('lindex', queue, 0)
if head then redis.call('publish', channel .. ':' .. head, '0') end
return 1
)";

constexpr const char* kFail = R"(
local behind = false
for _, other in ipairs(redis.call('lrange', queue, 0, -1)) do
  if behind then redis.call('zincrby', deadlines, text(-wait), other) end
  if other == owner then behind = true end
end
redis.call('zrem', deadlines, owner)
redis.call('lrem', queue, 0, owner)
return 1
)";

}  // namespace

Reply FairPeer::eval(const char* body) {
  const std::string source = std::string{kCommon} + body;
  const Script script{.name = "peer", .sha1 = "", .source = source};
  const LockName name{name_};
  const auto queue = fair_queue_keys(name);
  return redis_.run({.script = &script,
                     .keys = {name_, queue[0], queue[1]},
                     .args = {owner_, std::to_string(wait_), prefix_name("redisson_lock__channel", name),
                              std::to_string(skew_)}});
}

bool FairPeer::try_once() { return eval(kTryOnce).integer() == 1; }
bool FairPeer::try_queued() { return eval(kTryQueued).integer() == 1; }
bool FairPeer::unlock() { return eval(kUnlock).integer() == 1; }
void FairPeer::fail() { eval(kFail); }

}  // namespace rlock::test
