// The calls of all locks, made of values by name: those of the claim (values()), of the line, and of the kind (own_).
// The contract of the script decides which of them it takes.
//
// Two things decide which keys go along. First, a server may refuse a call with several keys while a Cluster slot
// moves. So a call that does not need the other keys has a form with the lock alone (with_single_key()). Second, a call
// may be carried out late. A request (RequestKeys) tells it from calls for other holds of the same owner. shares() tell
// whether its hold has ended, and whether other acquires share it.

#include "sync/kinds/lock_base.h"

#include <utility>

#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/calls/keys.h"

namespace rlock {
namespace {

/// While a Cluster slot moves, the server may refuse a call with several keys. If the script needs only one
/// key, the call can be sent with that key alone.
Call with_single_key(Call call) {
  if (call.script->required_keys != 1 || call.keys.size() == 1) return call;
  Call single = call;
  single.keys = {call.keys.front()};
  call.while_slot_moves.push_back(std::move(single));
  return call;
}

}  // namespace

LockBase::LockBase(const Claim& claim, Hold hold, const Form& form, Channel releases, Values own)
    : claim_(claim),
      hold_(hold),
      form_(&form),
      requests_(claim_, hold),
      line_(claim_, std::move(releases)),
      own_(std::move(own)) {}

Claim LockBase::without_place(Claim claim) {
  if (claim.if_busy == IfBusy::place) claim.if_busy = IfBusy::leave;
  return claim;
}

Call LockBase::call_for_nodes(const Script& script, Values all) const {
  return call_of(line_.exists() || script.for_quorum == nullptr ? script : *script.for_quorum,
                 std::move(all));
}

Values LockBase::values() const {
  Values all{{Parameter::lock, claim_.name.str()},
             {Parameter::owner, claim_.owner.str()},
             {Parameter::lease, in_ms(claim_.lease)},
             {Parameter::memory, in_ms(kRequestMemory)}};
  append(all, line_.values());
  append(all, own_);
  return all;
}

Values LockBase::inner_holds() const {
  if (form_->counts) return {};
  return {{Parameter::inner, inner_holds_key(claim_.name, claim_.owner)}};
}

/// If the owner may return, the server tells this hold from the owner's other holds by the shares. Permits without a
/// lease need none: their hold does not end before its release.
Values LockBase::shares() const {
  if (!claim_.owner_returns || hold_ != Hold::first || claim_.lease == Milliseconds{0}) return {};
  return {{Parameter::shares, shares_key(claim_.name, hold_entry().member)}};
}

Call LockBase::acquire(Milliseconds waited) const {
  const bool inner = hold_ == Hold::inner;
  const Script& script = inner && form_->acquire_inner != nullptr ? *form_->acquire_inner : *form_->acquire;
  Values all{{Parameter::waited, line_.waited(waited)}, {Parameter::another, inner ? "1" : "0"}};
  if (requests_.carries_request()) {
    all.emplace_back(Parameter::request, requests_.acquire());
    all.emplace_back(Parameter::memory, in_ms(claim_.lease + kRequestMemory));
  }
  append(all, shares());
  append(all, inner_holds());
  append(all, values());
  return call_for_nodes(script, std::move(all));
}

Call LockBase::encode(Milliseconds waited) const {
  Call call = acquire(waited);
  // With the first key alone, the script could neither note the request nor see whether a newer waiter has arrived.
  const bool needs_line = requests_.carries_request() || claim_.ticket != 0;
  return needs_line ? call : with_single_key(std::move(call));
}

AcquireAnswer LockBase::decode(const Reply& reply) const {
  return decode_acquire(claim_, form_->wanted->noun, reply);
}

std::optional<Call> LockBase::undo(Wake wake) const {
  const ReleaseOptions options{.keep_until = {}, .wake = wake};
  return requests_.carries_request() ? release_call(options, Way::undo) : release(options);
}

Call LockBase::renew() const { return still_ours(claim_.lease); }

/// No script shortens a lease by a renewal. So a renewal for the rest of the lease changes nothing. While a
/// Cluster slot moves, a server refuses a call that names a key which is not there. The key of the inner
/// holds exists only if there are inner holds. So the renewal of an outer hold leaves it out if it can.
Call LockBase::still_ours(Milliseconds rest) const {
  Values all{{Parameter::lease, in_ms(rest)}};
  const Values own_shares = shares();
  if (requests_.inner() || !own_shares.empty()) {
    all.emplace_back(Parameter::request, requests_.acquire());
    all.emplace_back(Parameter::memory, in_ms(rest + kRequestMemory));
    append(all, inner_holds());
    append(all, own_shares);
  }
  append(all, values());
  Call call = call_of(*form_->renew, std::move(all));
  // With the first key alone, the script could not prolong an inner hold that the lock does not count. For an outer
  // hold it does without the shares: that the owner has the lock is enough meanwhile.
  return requests_.inner() && !form_->counts ? call : with_single_key(std::move(call));
}

Call LockBase::release(const ReleaseOptions& options) const {
  const Way way = requests_.release_way();
  Call call = release_call(options, way);
  // With the first key alone, the script could neither note the request (Claim::owner_returns) nor see the
  // inner holds that the lock does not count.
  return way == Way::first && form_->counts ? with_single_key(std::move(call)) : call;
}

Call LockBase::release_call(const ReleaseOptions& options, Way way) const {
  return release_by(*form_->release, options, way);
}

Call LockBase::release_by(const Script& script, const ReleaseOptions& options, Way way,
                          const Values& more) const {
  const bool silent = options.wake == Wake::nobody || channels().empty();
  Values all{{Parameter::keep_until, in_ms(options.keep_until.value_or(ServerTime{}))},
             {Parameter::way, word(way)},
             {Parameter::inside, requests_.inner() ? "1" : "0"},
             {Parameter::silent, silent ? "1" : "0"}};
  if (way == Way::undo || way == Way::inner) all.emplace_back(Parameter::request, requests_.acquire());
  if (way == Way::again || way == Way::first) all.emplace_back(Parameter::request, requests_.release());
  // In an undo, the request must be the last key, because hold/all_or_none looks for it there.
  if (way != Way::undo) {
    all.emplace_back(Parameter::keep, keep_key(claim_.name));
    append(all, shares());
  }
  append(all, more);
  append(all, inner_holds());
  append(all, values());
  return call_for_nodes(script, std::move(all));
}

Released LockBase::decode_release(const Reply& reply) const {
  if (word_of(reply) != "held_inside") return decode_released(reply);
  return {.how = Released::How::still_held, .then = release_call({}, requests_.release_way())};
}

}  // namespace rlock
