#include "sync/kinds/read_write.h"

#include "base/text.h"
#include "scripts.h"
#include "sync/kinds/arguments.h"
#include "sync/kinds/keys.h"

namespace rlock {
namespace {

/// A sweep looks at this many timeout keys at most. If a lock has more holds, this release does not sweep,
/// and the release of the next reader looks again.
constexpr std::size_t kMostHolds = 500;

/// The most memory that the readers in a release's reply take, in bytes. lua/shared/hold/readers_left names a hundred at
/// most.
constexpr std::size_t kReadersTake = 64U << 10;

/// The key with the lease of one read hold of `owner`. Holds are counted from 1.
std::string timeout_key(const LockName& name, std::string_view owner, std::int64_t hold) {
  return suffix_name(name, owner) + ":rwlock_timeout:" + std::to_string(hold);
}

constinit const LockBase::Form kRead{&kinds::read_write, &scripts::read_acquire, nullptr,
                                     &scripts::read_renew, &scripts::read_release};
constinit const LockBase::Form kWrite{&kinds::read_write, &scripts::write_acquire, nullptr,
                                      &scripts::write_renew, &scripts::write_release};

}  // namespace

ReadWriteLock::ReadWriteLock(const Claim& claim, Hold hold, const Form& half, Values own)
    : LockBase(claim, hold, half, read_write_channel(claim.name), std::move(own)) {}

ReadLock::ReadLock(const Claim& claim, Hold hold)
    : ReadWriteLock(claim, hold, kRead,
                    {{Parameter::timeout, timeout_key(claim.name, claim.owner.str(), 1)},
                     {Parameter::beside, suffix_name(claim.name, "")}}) {}

WriteLock::WriteLock(const Claim& claim, Hold hold) : ReadWriteLock(claim, hold, kWrite) {}

Call ReadWriteLock::release_call(const ReleaseOptions& options, Way way) const {
  Call call = LockBase::release_call(options, way);
  call.largest_reply = kReadersTake;
  return call;
}

/// If the reply names other readers, a second call follows (read/sweep). It looks at their timeout keys, which
/// tell which readers live; only now are the names of these keys known.
Released ReadLock::decode_release(const Reply& reply) const {
  if (word_of(reply) != "readers") return ReadWriteLock::decode_release(reply);
  Values all = own_line().values();
  all.emplace_back(Parameter::lock, name().str());
  Call sweep = call_of(scripts::read_sweep, std::move(all));
  for (std::size_t i = 1; i + 1 < reply.items().size(); i += 2) {
    const std::string reader = reply.at(i).text();
    const auto holds = parse_count(reply.at(i + 1).text());
    if (!holds || static_cast<std::size_t>(*holds) + sweep.keys.size() > kMostHolds)
      return {.how = Released::How::yes};
    sweep.args.edit().insert(sweep.args.end(), {reader, reply.at(i + 1).text()});
    for (std::int64_t hold = 1; hold <= *holds; ++hold)
      sweep.keys.edit().push_back(timeout_key(name(), reader, hold));
  }
  return {.how = Released::How::yes, .then = std::move(sweep)};
}

Call ReadWriteLock::force(const LockName& name, const Owner& owner, PubSub pub_sub) {
  Values all{{Parameter::lock, name.str()},
             {Parameter::owner, owner.str()},
             {Parameter::channel, read_write_channel(name).str()},
             {Parameter::sharded, word(pub_sub)},
             {Parameter::beside, suffix_name(name, "")}};
  append(all, line_values(name));
  return call_of(scripts::read_write_force, std::move(all));
}

}  // namespace rlock
