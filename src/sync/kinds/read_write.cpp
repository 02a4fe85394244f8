#include "sync/kinds/read_write.h"

#include "base/text.h"
#include "scripts.h"
#include "sync/kinds/arguments.h"
#include "sync/kinds/keys.h"
#include "sync/kinds/kind.h"
#include "sync/kinds/requests.h"

namespace rlock {
namespace {

/// How many timeout keys we look at. So many holds are no
/// leftovers: the lock is in use, and the next reader looks again.
constexpr std::size_t kMostHolds = 500;

/// Those that a release names (lua/read/release: no more
/// than a hundred) take so many bytes of memory, or less.
constexpr std::size_t kReadersTake = 64U << 10;

/// Where the lease of one read hold of `owner` runs, counted from 1.
std::string timeout_key(const LockName& name, std::string_view owner, std::int64_t hold) {
  return suffix_name(name, owner) + ":rwlock_timeout:" + std::to_string(hold);
}

}  // namespace

ReadWriteLock::ReadWriteLock(Claim claim, Hold hold, Half half)
    : claim_(std::move(claim)),
      hold_(hold),
      half_(std::move(half)),
      requests_(claim_, hold),
      line_(claim_, read_write_channel(claim_.name)) {}

ReadLock::ReadLock(const Claim& claim, Hold hold)
    : ReadWriteLock(claim, hold,
                    {claim.turn != Turn::no_places ? &scripts::read_acquire : &scripts::quorum_read_acquire,
                     &scripts::read_renew,
                     claim.turn != Turn::no_places ? &scripts::read_release : &scripts::quorum_read_release,
                     {claim.name.str(), timeout_key(claim.name, claim.owner.str(), 1)}}) {}

WriteLock::WriteLock(const Claim& claim, Hold hold)
    : ReadWriteLock(claim, hold,
                    {claim.turn != Turn::no_places ? &scripts::write_acquire : &scripts::quorum_write_acquire,
                     &scripts::write_renew,
                     claim.turn != Turn::no_places ? &scripts::write_release : &scripts::quorum_write_release,
                     {claim.name.str()}}) {}

std::vector<Channel> ReadWriteLock::channels() const { return {read_write_channel(claim_.name)}; }

Call ReadWriteLock::ask(Milliseconds waited) const {
  Call call{.script = half_.acquire,
            .keys = half_.keys,
            .args = {claim_.owner.str(), number(claim_.lease), number(kRequestMemory)}};
  append(call.keys, line_.keys());
  append(call.args, line_.arguments(waited));
  call.args.emplace_back(hold_ == Hold::another ? "1" : "0");
  if (requests_.counts_acquire()) call.keys.push_back(requests_.acquire());
  return call;
}

Attempt ReadWriteLock::decode(const Reply& reply) const {
  return decode_attempt(claim_, kinds::read_write.noun, reply);
}

std::optional<Call> ReadWriteLock::undo(Wake wake) const {
  const ReleaseOptions options{.keep_until = {}, .wake = wake};
  return requests_.counts_acquire() ? release_call(options, Way::undo) : release(options);
}

Call ReadWriteLock::renew() const {
  return {.script = half_.renew, .keys = half_.keys, .args = {claim_.owner.str(), number(claim_.lease)}};
}

Call ReadWriteLock::release(const ReleaseOptions& options) const {
  Call call = release_call(options, requests_.release_way());
  if (requests_.release_way() == Way::first && half_.single_key()) {
    Call single = call;
    single.keys.resize(1);
    call.while_slot_moves.push_back(std::move(single));
  }
  return call;
}

Call ReadWriteLock::release_call(const ReleaseOptions& options, Way way) const {
  Call call{
      .script = half_.release,
      .keys = half_.keys,
      .args = {claim_.owner.str(), number(claim_.lease), number(options.keep_until.value_or(Milliseconds{0})),
               options.wake == Wake::nobody ? "" : read_write_channel(claim_.name).str(),
               word(claim_.pub_sub), number(kRequestMemory), word(way), line_.releases().str()}};
  append(call.keys, line_.keys());
  call.keys.push_back(way == Way::undo ? requests_.acquire() : requests_.release());
  call.largest_reply = kReadersTake;
  return call;
}

Released ReadWriteLock::decode_release(const Reply& reply) const {
  if (word_of(reply) != "held_inside") return decode_released(reply);
  return {.how = Released::How::still_held, .then = release_call({}, requests_.release_way())};
}

/// Other readers are written down. Whether they live is
/// known by their timeout keys, which only now can be named.
Released ReadLock::decode_release(const Reply& reply) const {
  if (word_of(reply) != "readers") return ReadWriteLock::decode_release(reply);
  Call sweep{.script = &scripts::read_sweep,
             .keys = {name().str()},
             .args = {channels().front().str(), word(claim().pub_sub), line().releases().str(),
                      std::to_string(reply.items().size() / 2)}};
  append(sweep.keys, line().keys());
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

Call ReadWriteLock::force(const LockName& name, const Owner& owner, PubSub pub_sub) {
  Call call{.script = &scripts::read_write_force,
            .keys = {name.str()},
            .args = {owner.str(), read_write_channel(name).str(), word(pub_sub)}};
  append(call.keys, line_keys(name));
  return call;
}

}  // namespace rlock
