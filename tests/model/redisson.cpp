// Redisson's clients as our own scripts, with the same effects on Redisson's keys and the same answers.
// redisson_test.cpp compares them with recordings of two releases. The unlock latch, which tells repeated calls, is
// left out, because the model's clients of Redisson lose no call and are never late.

#include <fmt/format.h>

#include <stdexcept>

#include "hold.h"
#include "sync/calls/keys.h"

namespace rlock::model {
namespace {

// KEYS lock  ARGV owner, lease
constexpr Script kAcquire{.name = "redisson/acquire", .sha1 = "", .source = R"(
local lock, owner, lease = KEYS[1], ARGV[1], ARGV[2]
if redis.call('exists', lock) == 1 and redis.call('hexists', lock, owner) == 0 then
  return redis.call('pttl', lock)
end
redis.call('hincrby', lock, owner, 1)
redis.call('pexpire', lock, lease)
return 'held'
)"};

// Renews the holds of each kind in the same way. It sets the TTL, even to a smaller value.
constexpr Script kRenew{.name = "redisson/renew", .sha1 = "", .source = R"(
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('pexpire', KEYS[1], ARGV[2])
return 1
)"};

// ARGV owner, lease, channel
constexpr Script kRelease{.name = "redisson/release", .sha1 = "", .source = R"(
local lock, owner = KEYS[1], ARGV[1]
if redis.call('hexists', lock, owner) == 0 then return 0 end
if redis.call('hincrby', lock, owner, -1) > 0 then
  redis.call('pexpire', lock, ARGV[2])
  return 1
end
redis.call('del', lock)
redis.call('publish', ARGV[3], '0')
return 1
)"};

// The beginning of the fair lock's scripts. KEYS lock, queue, deadlines  ARGV owner, lease, channel, wait
const std::string kFairBegin = R"(
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local owner, lease, channel, wait = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local clock = redis.call('time')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
while true do
  local first = redis.call('lindex', queue, 0)
  local ends = first and tonumber(redis.call('zscore', deadlines, first) or nil)
  if not ends or ends > now then break end
  redis.call('zrem', deadlines, first)
  redis.call('lpop', queue)
end
local function sooner(member) redis.call('zincrby', deadlines, string.format('%.0f', -wait), member) end
local function wake()
  local first = redis.call('lindex', queue, 0)
  if first then redis.call('publish', channel .. ':' .. first, '0') end
end
)";

const std::string kFairAcquireText = kFairBegin + R"(
local first = redis.call('lindex', queue, 0)
if redis.call('exists', lock) == 0 and (not first or first == owner) then
  redis.call('lpop', queue)
  redis.call('zrem', deadlines, owner)
  for _, other in ipairs(redis.call('zrange', deadlines, 0, -1)) do sooner(other) end
  redis.call('hset', lock, owner, 1)
  redis.call('pexpire', lock, lease)
  return 'held'
end
if redis.call('hexists', lock, owner) == 1 then
  redis.call('hincrby', lock, owner, 1)
  redis.call('pexpire', lock, lease)
  return 'held'
end
local mine = redis.call('zscore', deadlines, owner)
if mine and ARGV[5] == 'classic' then return math.max(mine - wait - now, 0) end
if mine then return math.max(redis.call('pttl', lock), 0) end
local last = redis.call('lindex', queue, -1)
local ends = last and last ~= owner and tonumber(redis.call('zscore', deadlines, last) or nil)
local rest = ends and ends - now or redis.call('pttl', lock)
if redis.call('zadd', deadlines, string.format('%.0f', rest + wait + now), owner) == 1 then
  redis.call('rpush', queue, owner)
end
return math.max(rest, 0)
)";
const Script kFairAcquire{.name = "redisson/fair_acquire", .sha1 = "", .source = kFairAcquireText};

const std::string kFairReleaseText = kFairBegin + R"(
if redis.call('exists', lock) == 1 then
  if redis.call('hexists', lock, owner) == 0 then return 0 end
  if redis.call('hincrby', lock, owner, -1) > 0 then
    redis.call('pexpire', lock, lease)
    return 1
  end
  redis.call('del', lock)
end
wake()
return 1
)";
const Script kFairRelease{.name = "redisson/fair_release", .sha1 = "", .source = kFairReleaseText};

const std::string kFairLeaveText = kFairBegin + R"(
local behind = false
for _, other in ipairs(redis.call('lrange', queue, 0, -1)) do
  if behind then sooner(other) end
  behind = behind or other == owner
end
redis.call('zrem', deadlines, owner)
redis.call('lrem', queue, 0, owner)
return 1
)";
const Script kFairLeave{.name = "redisson/fair_leave", .sha1 = "", .source = kFairLeaveText};

// KEYS lock, timeout  ARGV owner, lease, channel
constexpr Script kReadAcquire{.name = "redisson/read_acquire", .sha1 = "", .source = R"(
local lock, timeout, owner, lease = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local mode = redis.call('hget', lock, 'mode')
if mode == 'write' and redis.call('hexists', lock, owner .. ':write') == 0 then
  return redis.call('pttl', lock)
end
local rest = redis.call('pttl', lock)
if not mode then redis.call('hset', lock, 'mode', 'read') end
local holds = redis.call('hincrby', lock, owner, 1)
redis.call('set', timeout .. ':' .. holds, 1, 'px', lease)
redis.call('pexpire', lock, math.max(rest, tonumber(lease)))
return 'held'
)"};

constexpr Script kReadRenew{.name = "redisson/read_renew", .sha1 = "", .source = R"(
local lock, timeout, owner, lease = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local holds = tonumber(redis.call('hget', lock, owner) or 0)
if holds == 0 then return 0 end
for i = 1, holds do redis.call('pexpire', timeout .. ':' .. i, lease) end
redis.call('pexpire', lock, lease)
return 1
)"};

// KEYS lock, timeout, prefix of all timeouts
constexpr Script kReadRelease{.name = "redisson/read_release", .sha1 = "", .source = R"(
local lock, timeout, prefix, owner, channel = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[3]
if redis.call('hexists', lock, 'mode') == 0 then
  redis.call('publish', channel, '0')
  return 0
end
if redis.call('hexists', lock, owner) == 0 then return 0 end
local holds = redis.call('hincrby', lock, owner, -1)
if holds == 0 then redis.call('hdel', lock, owner) end
redis.call('del', timeout .. ':' .. (holds + 1))
if redis.call('hlen', lock) > 1 then
  local longest = -3
  for _, reader in ipairs(redis.call('hkeys', lock)) do
    for i = tonumber(redis.call('hget', lock, reader)) or 0, 1, -1 do
      longest = math.max(longest, redis.call('pttl', prefix .. ':' .. reader .. ':rwlock_timeout:' .. i))
    end
  end
  if longest > 0 then redis.call('pexpire', lock, longest) end
  if longest > 0 or redis.call('hget', lock, 'mode') == 'write' then return 1 end
end
redis.call('del', lock)
redis.call('publish', channel, '0')
return 1
)"};

// ARGV owner with ":write", lease, channel
constexpr Script kWriteAcquire{.name = "redisson/write_acquire", .sha1 = "", .source = R"(
local lock, owner, lease = KEYS[1], ARGV[1], tonumber(ARGV[2])
local mode = redis.call('hget', lock, 'mode')
if mode and (mode ~= 'write' or redis.call('hexists', lock, owner) == 0) then
  return redis.call('pttl', lock)
end
redis.call('hset', lock, 'mode', 'write')
redis.call('hincrby', lock, owner, 1)
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), 0) + lease)
return 'held'
)"};

constexpr Script kWriteRelease{.name = "redisson/write_release", .sha1 = "", .source = R"(
local lock, owner = KEYS[1], ARGV[1]
if redis.call('hget', lock, 'mode') ~= 'write' or redis.call('hexists', lock, owner) == 0 then return 0 end
if redis.call('hincrby', lock, owner, -1) > 0 then
  redis.call('pexpire', lock, ARGV[2])
  return 1
end
redis.call('hdel', lock, owner)
if redis.call('hlen', lock) == 1 then
  redis.call('del', lock)
  redis.call('publish', ARGV[3], '1')
else
  redis.call('hset', lock, 'mode', 'read')
end
return 1
)"};

// KEYS semaphore  ARGV owner, lease, channel. A waiter for a permit asks only after a message.
constexpr Script kPermitAcquire{.name = "redisson/permit_acquire", .sha1 = "", .source = R"(
if tonumber(redis.call('get', KEYS[1]) or 0) < 1 then return 1000000000 end
redis.call('decrby', KEYS[1], 1)
return 'held'
)"};

constexpr Script kPermitRelease{.name = "redisson/permit_release", .sha1 = "", .source = R"(
redis.call('publish', ARGV[3], redis.call('incrby', KEYS[1], 1))
return 1
)"};

struct Scripts {
  const Script* acquire;
  const Script* renew;
  const Script* release;
  const Script* leave = nullptr;
};

Scripts scripts_of(const std::string& type) {
  if (type == "lock") return {&kAcquire, &kRenew, &kRelease};
  if (type == "fair") return {&kFairAcquire, &kRenew, &kFairRelease, &kFairLeave};
  if (type == "read") return {&kReadAcquire, &kReadRenew, &kReadRelease};
  if (type == "write") return {&kWriteAcquire, &kRenew, &kWriteRelease};
  if (type == "semaphore") return {&kPermitAcquire, nullptr, &kPermitRelease};
  throw std::invalid_argument{"no type " + type + " of Redisson's"};
}

class OfRedisson final : public Hold {
 public:
  explicit OfRedisson(const Wanted& wanted) : wanted_(wanted), scripts_(scripts_of(wanted.type)) {
    const LockName name{wanted.keys.front()};
    const bool shared = wanted.type == "read" || wanted.type == "write";
    channel_ = prefix_name(shared ? "redisson_rwlock" : "redisson_lock__channel", name);
    if (wanted.type == "semaphore") channel_ = prefix_name("redisson_sc", name);
    keys_ = {name.str()};
    if (wanted.type == "fair")
      keys_ = {name.str(), prefix_name("redisson_lock_queue", name),
               prefix_name("redisson_lock_timeout", name)};
    if (wanted.type == "read")
      keys_ = {name.str(), suffix_name(name, wanted.owner) + ":rwlock_timeout", "{" + name.str() + "}"};
    if (wanted.type == "write") wanted_.owner += ":write";
  }

  Call ask(std::int64_t) const override { return call(scripts_.acquire); }
  std::vector<Call> renew() const override { return {call(scripts_.renew)}; }
  std::vector<Call> release(std::int64_t) const override { return {call(scripts_.release)}; }
  std::vector<Call> undo() const override {
    if (scripts_.leave == nullptr) return {};
    return {call(scripts_.leave)};
  }

  Asked read(const Reply& reply) const override {
    if (reply.kind() == Reply::Kind::text) return {.how = Asked::How::held};
    if (reply.is_error()) return {};
    Asked asked{.how = Asked::How::busy};
    asked.busy.retry_after = Milliseconds{std::max<std::int64_t>(reply.integer(), kNotAtOnce)};
    return asked;
  }
  bool renewed(std::size_t, const Reply& reply) const override {
    return !reply.is_error() && reply.integer() == 1;
  }
  Freed freed(std::size_t part, const Reply& reply) const override {
    return {.how = renewed(part, reply) ? Freed::How::done : Freed::How::not_ours};
  }

  bool takes_place() const override { return scripts_.leave != nullptr; }
  std::vector<std::string> channels(const Busy&) const override {
    return {takes_place() ? channel_ + ":" + wanted_.owner : channel_};
  }
  Heard hear(const std::string&, const std::optional<std::string>&, Busy&) const override {
    return {.ask_after = 0};
  }
  std::int64_t sleeps(const Busy& busy) const override { return busy.retry_after->count(); }
  bool listens_while_held() const override { return false; }
  Ends ends() const override { return scripts_.renew != nullptr ? Ends::with_lease : Ends::by_release; }
  std::vector<Place> places() const override {
    if (ends() == Ends::by_release) return {};
    return {{wanted_.keys.front(), wanted_.owner}};
  }
  bool is_ours() const override { return false; }

 private:
  /// While it waits for the head of its queue, Redisson asks again without a pause. Here it pauses a little,
  /// or the model would never end.
  static constexpr std::int64_t kNotAtOnce = 500;

  Call call(const Script* script) const {
    constexpr const char* kFairWait = "300000";
    return {.script = script,
            .keys = keys_,
            .args = {wanted_.owner, std::to_string(wanted_.lease), channel_, kFairWait,
                     wanted_.classic ? "classic" : ""}};
  }

  Wanted wanted_;
  Scripts scripts_;
  std::string channel_;
  std::vector<std::string> keys_;
};

}  // namespace

std::shared_ptr<const Hold> make_redisson_hold(const Wanted& wanted) {
  return std::make_shared<OfRedisson>(wanted);
}

}  // namespace rlock::model
