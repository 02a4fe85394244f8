#include "sync/kinds/lock_base.h"

#include "scripts.h"
#include "sync/kinds/arguments.h"
#include "sync/kinds/keys.h"

namespace rlock {
namespace {

using P = Parameter;

/// A call that needs one key only can be sent so while a cluster slot moves, too. Only a cluster ever asks for it.
Call with_single_key(Call call) {
  if (call.script->required_keys != 1 || call.keys.size() == 1) return call;
  Call single = call;
  single.keys.resize(1);
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
  if (claim.turn == Turn::queue) claim.turn = Turn::leave;
  return claim;
}

Call LockBase::call_for_nodes(const Script& script, const Values& all) const {
  return call_of(line_.exists() || script.for_quorum == nullptr ? script : *script.for_quorum, all);
}

Values LockBase::values() const {
  Values all{{P::lock, claim_.name.str()},
             {P::owner, claim_.owner.str()},
             {P::lease, number(claim_.lease)},
             {P::memory, number(kRequestMemory)}};
  append(all, line_.values());
  append(all, own_);
  return all;
}

Call LockBase::take(Milliseconds lease, Milliseconds waited) const {
  const bool another = hold_ == Hold::another;
  const Script& script = another && form_->enter != nullptr ? *form_->enter : *form_->acquire;
  Values all{{P::lease, number(lease)}, {P::waited, line_.waited(waited)}, {P::another, another ? "1" : "0"}};
  if (requests_.counts_acquire()) all.emplace_back(P::request, requests_.acquire());
  append(all, values());
  return call_for_nodes(script, all);
}

Call LockBase::ask(Milliseconds waited) const {
  Call call = take(claim_.lease, waited);
  // Without the line nobody knows whether a newer waiter has come.
  const bool needs_line = requests_.counts_acquire() || claim_.ticket != 0;
  return needs_line ? call : with_single_key(std::move(call));
}

Attempt LockBase::decode(const Reply& reply) const {
  return decode_attempt(claim_, form_->wanted->noun, reply);
}

std::optional<Call> LockBase::undo(Wake wake) const {
  if (hold_ == Hold::another && !form_->counts) return std::nullopt;
  const ReleaseOptions options{.keep_until = {}, .wake = wake};
  return requests_.counts_acquire() ? release_call(options, Way::undo) : release(options);
}

Call LockBase::renew() const { return call_of(*form_->renew, values()); }

Call LockBase::release(const ReleaseOptions& options) const {
  // There is nothing to release: the call asks whether the outer hold remains.
  if (hold_ == Hold::another && !form_->counts) return take(Milliseconds{0}, Milliseconds{0});
  const Way way = requests_.release_way();
  Call call = release_call(options, way);
  return way == Way::first ? with_single_key(std::move(call)) : call;
}

Call LockBase::release_call(const ReleaseOptions& options, Way way) const {
  return release_by(*form_->release, options, way);
}

Call LockBase::release_by(const Script& script, const ReleaseOptions& options, Way way,
                          const Values& more) const {
  const bool silent = options.wake == Wake::nobody || channels().empty();
  Values all{{P::keep_until, number(options.keep_until.value_or(Milliseconds{0}))},
             {P::way, word(way)},
             {P::silent, silent ? "1" : "0"}};
  // If holds are not counted, and the owner has only this one, no copy can release another.
  if (way == Way::undo) all.emplace_back(P::request, requests_.acquire());
  if (way == Way::again || (way == Way::first && form_->counts))
    all.emplace_back(P::request, requests_.release());
  // The request of an undo stays the last key: hold/all_or_none looks for it there.
  if (way != Way::undo) all.emplace_back(P::keep, keep_key(claim_.name));
  append(all, more);
  append(all, values());
  return call_for_nodes(script, all);
}

Released LockBase::decode_release(const Reply& reply) const {
  if (hold_ == Hold::another && !form_->counts)
    return {.how = word_of(reply) == "held" ? Released::How::still_held : Released::How::was_not_ours};
  if (word_of(reply) != "held_inside") return decode_released(reply);
  return {.how = Released::How::still_held, .then = release_call({}, requests_.release_way())};
}

}  // namespace rlock
