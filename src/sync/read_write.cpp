#include "sync/read_write.h"

#include "base/random.h"
#include "base/text.h"
#include "scripts.h"
#include "sync/arguments.h"
#include "sync/keys.h"
#include "sync/requests.h"

namespace rlock {
namespace {

/// How many timeout keys we look at. So many holds are no leftovers: the lock is in use, and the next reader looks again.
constexpr std::size_t kMostHolds = 500;

Channel channel_of(const LockName& name) { return Channel{prefix_name("redisson_rwlock", name)}; }

/// Where the lease of one read hold of `owner` runs, counted from 1.
std::string timeout_key(const LockName& name, std::string_view owner, std::int64_t hold) {
  return suffix_name(name, owner) + ":rwlock_timeout:" + std::to_string(hold);
}

}  // namespace

ReadWriteLock::ReadWriteLock(Claim claim, Hold hold, Half half)
    : claim_(std::move(claim)),
      hold_(hold),
      half_(std::move(half)),
      entering_(request_key(claim_.name, new_request())),
      leaving_(request_key(claim_.name, new_request())) {}

ReadLock::ReadLock(const Claim& claim, Hold hold)
    : ReadWriteLock(claim, hold,
                    {&scripts::read_acquire,
                     &scripts::read_renew,
                     &scripts::read_release,
                     {claim.name.str(), timeout_key(claim.name, claim.owner.str(), 1)}}) {}

WriteLock::WriteLock(const Claim& claim, Hold hold)
    : ReadWriteLock(
          claim, hold,
          {&scripts::write_acquire, &scripts::write_renew, &scripts::write_release, {claim.name.str()}}) {}

std::vector<Channel> ReadWriteLock::channels() const { return {channel_of(claim_.name)}; }

Call ReadWriteLock::ask() const {
  Call call{.script = half_.acquire,
            .keys = half_.keys,
            .args = {claim_.owner.str(), number(claim_.lease), number(kRequestMemory)}};
  if (hold_ == Hold::another) call.keys.push_back(entering_);
  return call;
}

Attempt ReadWriteLock::read(const Reply& reply) const {
  return read_attempt(claim_, "a read/write lock", reply);
}

std::optional<Call> ReadWriteLock::give_back() const {
  if (hold_ == Hold::first) return release({});
  Call call = release_call({}, /*undo=*/true);
  call.keys.push_back(entering_);
  return call;
}

std::optional<Call> ReadWriteLock::undo() const {
  return hold_ == Hold::first ? release({.keep_until = {}, .silently = true}) : give_back();
}

Call ReadWriteLock::renew() const {
  return {.script = half_.renew, .keys = half_.keys, .args = {claim_.owner.str(), number(claim_.lease)}};
}

Call ReadWriteLock::release(const Farewell& farewell) const {
  Call call = release_call(farewell, /*undo=*/false);
  if (hold_ == Hold::another) call.keys.push_back(leaving_);
  return call;
}

Call ReadWriteLock::release_call(const Farewell& farewell, bool undo) const {
  return {.script = half_.release,
          .keys = half_.keys,
          .args = {claim_.owner.str(), number(claim_.lease),
                   number(farewell.keep_until.value_or(Milliseconds{0})),
                   farewell.silently ? "" : channel_of(claim_.name).str(), claim_.cluster ? "1" : "0",
                   number(kRequestMemory), undo ? "1" : "0"}};
}

Released ReadWriteLock::read_release(const Reply& reply) const {
  if (reply.at(0).integer() != 3) return read_farewell(reply);
  Call counted = release_call({}, /*undo=*/false);
  counted.keys.push_back(leaving_);
  return {.how = Released::How::still_held, .then = std::move(counted)};
}

/// Other readers are written down. Whether they live is known by their timeout keys, which only now can be named.
Released ReadLock::read_release(const Reply& reply) const {
  if (reply.at(0).integer() != 4) return ReadWriteLock::read_release(reply);
  Call sweep{.script = &scripts::read_sweep,
             .keys = {name().str()},
             .args = {channels().front().str(), claim().cluster ? "1" : "0",
                      std::to_string(reply.items().size() / 2)}};
  for (std::size_t i = 1; i + 1 < reply.items().size(); i += 2) {
    const std::string reader = reply.at(i).text();
    const auto holds = parse_count(reply.at(i + 1).text());
    if (!holds || static_cast<std::size_t>(*holds) + sweep.keys.size() > kMostHolds)
      return {.how = Released::How::yes};
    sweep.args.insert(sweep.args.end(), {reader, reply.at(i + 1).text()});
    for (std::int64_t hold = 1; hold <= *holds; ++hold)
      sweep.keys.push_back(timeout_key(name(), reader, hold));
  }
  return {.how = Released::How::yes, .then = std::move(sweep)};
}

Call ReadWriteLock::force(const LockName& name, const Owner& owner, bool cluster) {
  return {.script = &scripts::read_write_force,
          .keys = {name.str()},
          .args = {owner.str(), channel_of(name).str(), cluster ? "1" : "0"}};
}

}  // namespace rlock
