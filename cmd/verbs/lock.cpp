// rlock lock release | renew | status: the verbs after rlock lock acquire. They know a key and perhaps an owner, but
// not the type of the lock. So each begins with find(), which inspects the key. release and renew then make the lock
// from what was found (found_lock()).
//
// If the hold may have a keeper, release_one() takes three steps, so that the keeper sees a release and no loss:
//
//   mark, number   First, and the answer is awaited: a keeper that finds its hold gone asks for them.
//   release        The record for the history, or the removal of the metadata, travels behind it.
//   message        Last: the keeper then asks for the mark at once, and does not wait for its next renewal.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/environment.h"
#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ask/inspector.h"
#include "cmd/ask/unannounced.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/hold/request/inner_hold.h"
#include "cmd/server/key_options.h"
#include "cmd/server/server_options.h"
#include "cmd/verbs/found_lock.h"
#include "cmd/verbs/lease_option.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/inspection_json.h"
#include "cmd/view/inspection_text.h"
#include "redis/quorum.h"
#include "sync/calls/requests.h"
#include "sync/hold/release.h"
#include "sync/records/holder_messages.h"

namespace rlock {
namespace {

/// A key, and which hold of it the user means.
struct FoundHold {
  Views views;                     ///< one of each server
  Inspection key;                  ///< what the servers agree on
  std::optional<Owner> owner;      ///< the owner of the hold; empty: none was given
  std::optional<RequestId> inner;  ///< its request, if the user named an inner hold that has not ended
};

/// The state of an inner hold; `unknown`: it has ended, or no quorum of servers can have it.
InnerState inner_state(Session& session, const LockName& name, const InnerHold& hold) {
  Tally has;
  bool reads = false;
  for (const Vote& vote : session.ask_each(ask_for_inner(name, hold.request))) {
    const Reply* reply = vote.good_reply();
    const InnerState state = reply ? read_inner(*reply) : InnerState::unknown;
    if (!reply) ++has.open;
    if (state == InnerState::reads || state == InnerState::held) ++has.yes;
    reads = reads || state == InnerState::reads;
  }
  if (!has.can_have(session.redis.quorum())) return InnerState::unknown;
  return reads ? InnerState::reads : InnerState::held;
}

/// Does a quorum of servers have this hold, if so many say yes? Throws Error{unreachable} if the silent ones decide.
bool has_quorum(const Session& session, const LockName& name, std::size_t yes,
                const std::vector<std::string>& silent) {
  const std::size_t quorum = session.redis.quorum();
  const Tally has{.yes = yes, .open = silent.size()};
  if (!has.is_decided(quorum))
    session.fail({.text = fmt::format("no quorum: {} of {} servers {} this hold of {}, {} are needed ({})",
                                      yes, session.redis.nodes(), yes == 1 ? "has" : "have", quoted(name),
                                      quorum, joined(silent, "; "))});
  return has.has(quorum);
}

/// The common part of these verbs: a key, an owner, and perhaps a type.
class LockVerb : public Verb {
 protected:
  void declare_shared(
      VerbSpec& spec, std::string_view owner_help = "name the owner; lock acquire has printed its id",
      std::string_view owner_manual = "Without it, RLOCK_OWNER counts if lock acquire --export has set it.") {
    spec.group("Which hold");
    declare_owner(spec, given_, owner_help, owner_manual);
    declare_expected_type(spec, type_,
                          "Here rlock does not tell lock, fair, fenced and spin apart, nor read and write.");
  }

  /// Asks each server; warns of those that do not answer. If the given owner is the name of an inner hold, and no owner
  /// has exactly this name, looks for that hold. Throws Error{wrong_type} if it is no lock, or one of another type.
  FoundHold find(Session& session, const LockName& name) const {
    const auto inner = given_ ? inner_hold_in(*given_) : std::nullopt;
    FoundHold found{.views = inspect_each(session, name, inner ? inner->owner : given_), .owner = given_};
    std::vector<Inspection>& seen = found.views.seen;
    for (const std::string& server : found.views.silent) warn(server);
    if (inner && nodes_that_see(seen, *given_) == 0) {
      const InnerState state = inner_state(session, name, *inner);
      if (state != InnerState::unknown) {
        found.owner = inner->owner;
        found.inner = inner->request;
      }
      // If the owner of a hold for reading also holds for writing, leaves out the latter.
      if (state == InnerState::reads)
        for (Inspection& view : seen)
          std::erase_if(view.holders, [&](const Holder& holder) {
            return holder.owner == inner->owner && holder.mode == Holder::Mode::write;
          });
    }
    for (Inspection& view : seen)  // the note of a latch is nothing that a lock could meet
      if (is_free(view)) view.kind = nullptr, view.state = Inspection::State::free;
    found.key = agreed(seen, found.owner);
    expect_lock(found.key, type_, inner ? inner->owner : found.owner);
    return found;
  }

  /// That hold, with this lease; null: it does not exist.
  static std::unique_ptr<Lockable> lock_in(const Session& session, const FoundHold& found,
                                           Milliseconds lease) {
    return found_lock(found.key, {.name = found.key.name,
                                  .owner = *found.owner,
                                  .lease = lease,
                                  .pub_sub = session.deployment.pub_sub(),
                                  .owner_returns = true,
                                  .request = found.inner.value_or(RequestId{})});
  }

  /// Takes the owner as typed, or else from RLOCK_OWNER, if RLOCK_KEY has all our keys: `lock acquire --export` sets
  /// both. rlock run sets RLOCK_OWNER alone, because its command must not release that hold.
  void require_owner() {
    const auto owner = environment_variable("RLOCK_OWNER");
    const auto exported = environment_variable("RLOCK_KEY");
    if (!given_ && owner && exported) {
      const std::string held = "\n" + *exported + "\n";  // one key in a line; a key may have lines itself
      const bool all = std::ranges::all_of(
          keys_, [&](const std::string& key) { return held.find("\n" + key + "\n") != held.npos; });
      if (all) given_ = parse_owner(*owner);
    }
    if (!given_)
      throw Error{Error::usage,
                  fmt::format("--owner is missing: rlock lock acquire has printed it, or --export sets it{}",
                              owner && exported ? " (RLOCK_OWNER is that of the keys in RLOCK_KEY)"
                                                : owner_among_keys())};
  }

  /// If the last key has a colon, as owners of rlock and Redisson have, suggests --owner.
  std::string owner_among_keys() const {
    const std::string& last = keys_.back();
    if (keys_.size() < 2 || last.find(':') == std::string::npos) return "";
    return fmt::format("; did you mean --owner {}?", sanitized(last));
  }

  /// Acts on each key; the worst exit status counts.
  template <class Act>
  int for_each_key(Session& session, const Act& act) const {
    int worst = exit_code::ok;
    for (const std::string& key : keys_) {
      try {
        worst = std::max(worst, act(session.name(key)));
      } catch (const Error& error) {  // rlock goes on with the other keys
        warn(error.what());
        worst = std::max(worst, exit_code::of(error.kind()));
      }
    }
    return worst;
  }

  int not_held(const Inspection& found) const {
    info(is_free(found) ? quoted(found.name) + " is free" : not_held_by(*given_, found));
    return exit_code::no;
  }

  std::string type_;
  std::optional<Owner> given_;  ///< as typed
};

/// How long the mark of a release stays if nobody learns that the release has happened. Meanwhile the keeper would take
/// a loss for the release.
constexpr Milliseconds kMarkStays{60000};

/// How long it stays behind the release. A keeper that hears nothing of the release reads the mark at its next renewal,
/// which is due within a third of the lease, or half of what is left of it. Without the mark it would take the release
/// for a loss, and stop its script.
Milliseconds mark_stays(const Holder& holder) {
  return kMarkStays + noted_lease(holder).value_or(holder.ttl.value_or(Milliseconds{0})) / 2;
}

class LockRelease final : public LockVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.usage = {"lock release [OPTIONS] KEY... [--owner ID]"};
    spec.about = "Release a lock that rlock lock acquire has acquired, and wake up its waiters.";
    spec.examples = {{"rlock lock release deploy --owner \"$owner\"", ""}};
    declare_shared(spec);
  }

  int act(TimePoint, std::vector<std::string>) override {
    require_owner();
    Session session{server_};
    return for_each_key(session, [&](const LockName& name) { return release_one(session, name); });
  }

 private:
  /// Erases the metadata of a hold that ends now, and records the end if there is a history. `looked`: the
  /// time when it was found.
  static Call end_of_facts(const Session& session, const Inspection& found, const Holder& holder,
                           const Lockable& lock, TimePoint looked) {
    if (!session.deployment.history || !holder.facts)
      return erase_metadata(found.name, holder.owner, lock.hold_entry());
    return write_end(
        found.name, holder.owner, lock.hold_entry(),
        past_of(found, holder, elapsed(looked, session.now()), {.outcome = HoldOutcome::released}),
        WriteEnd::if_it_ended);
  }

  int release_one(Session& session, const LockName& name) const {
    const TimePoint looked = session.now();
    const FoundHold hold = find(session, name);
    const Inspection& found = hold.key;
    const Owner& owner = *hold.owner;
    // With the shortest lease, because a release never shortens the rest that the owner's other holds have.
    const std::shared_ptr<const Lockable> lock = lock_in(session, hold, Milliseconds{1});
    if (!lock) return not_held(found);
    const Holder* holder = found.holder(owner);
    // The metadata is that of the outer hold, so it does not tell whether an inner hold has a keeper. An inner hold
    // needs no mark, because the server remembers its release without one.
    const bool has_keeper = hold.inner || !holder->facts || holder->facts->renews;
    if (has_keeper && !hold.inner)
      session.ask(mark_released(found.name, owner, kMarkStays),
                  with_retries({number_release(found.name, owner, kMarkStays)}));
    const Call tells = tell_holder(found.name, owner, std::string{kReleased});
    Part part{.lock = lock, .release_followers = {end_of_facts(session, found, *holder, *lock, looked)}};
    // A run inside the hold shares its facts, so they do not tell whether there is one.
    if (!has_keeper) part.release_followers.push_back(tells);
    Patience patience = session.loop.within(session.deployment.timeouts.command);
    patience.interrupted = [&] { return session.signals.any(); };
    const ReleaseResult result = release(session.redis, {&part, 1}, {}, patience).front();
    if (has_keeper) static_cast<void>(session.try_each(tells));
    say_unannounced("released " + quoted(found.name), result.unannounced);
    if (result.how == ReleaseResult::How::not_ours) return not_held(found);
    if (result.how != ReleaseResult::How::unknown) {
      if (has_keeper && !hold.inner)
        for (const Call& call : prolong_mark(found.name, owner, mark_stays(*holder)))
          static_cast<void>(session.try_each(call));
      return exit_code::ok;
    }
    const std::string unconfirmed = fmt::format("release of {} not confirmed: ", quoted(found.name));
    const auto signal = session.signals.ended();
    if (!signal) throw Error{Error::unreachable, unconfirmed + result.why};
    warn(unconfirmed + signal_name(*signal) + " came before the answer");
    throw EndedBySignal{*signal};
  }
};

class LockRenew final : public LockVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.usage = {"lock renew [OPTIONS] KEY... [--owner ID]"};
    spec.about =
        "Start the lease of a lock again that rlock lock acquire has acquired. rlock refuses a --lease that "
        "is shorter than the time that is left.";
    spec.examples = {{"rlock lock renew deploy --owner \"$owner\" || exit", ""},
                     {"rlock lock renew deploy --owner \"$owner\" --lease 30m", ""}};
    declare_shared(spec);
    declare_renewed_lease(spec, lease_, "Default: the length that the lease had before.");
  }

  int act(TimePoint, std::vector<std::string>) override {
    require_owner();
    Session session{server_};
    return for_each_key(session, [&](const LockName& name) { return renew_one(session, name); });
  }

 private:
  int renew_one(Session& session, const LockName& name) const {
    const FoundHold hold = find(session, name);
    const Inspection& found = hold.key;
    const Owner& owner = *hold.owner;
    const Holder* holder = found.holder(owner);
    if (!holder) return not_held(found);
    const auto known = lease_ ? lease_ : noted_lease(*holder);
    if (!known) refuse_unknown_lease();
    const Milliseconds lease = *known;
    if (lease_ && holder->ttl && *holder->ttl > lease)
      throw Error{
          Error::usage,
          fmt::format(
              "--lease {}: {} is held for {} more, and rlock never shortens a lease, because another hold of its "
              "owner may need it; to end the hold: rlock lock release",
              describe(lease), quoted(found.name), describe(*holder->ttl))};
    const auto lock = lock_in(session, hold, lease);
    if (!lock) return not_held(found);
    Delivery delivery = with_retries();
    if (holder->facts && !holder->facts->inner)
      delivery.followers = {write_metadata(found.name, owner, lock->hold_entry(), lease, *holder->facts)};
    std::size_t renewed = 0;
    std::vector<std::string> silent;
    const Votes votes = session.ask_each(lock->renew(), delivery);
    for (std::size_t node = 0; node < votes.size(); ++node) {
      const Reply* reply = votes[node].good_reply();
      if (!reply) {
        const Failure why = votes[node].why();
        silent.push_back(session.redis.named(node, why.text));
        continue;
      }
      const RenewAnswer answer = lock->read_renewal(*reply);
      if (const auto* failure = std::get_if<Failure>(&answer)) failure->throw_error();
      if (std::holds_alternative<Renewed>(answer)) ++renewed;
    }
    return has_quorum(session, found.name, renewed, silent) ? exit_code::ok : not_held(found);
  }

  std::optional<Milliseconds> lease_;
};

class LockStatus final : public LockVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Print whether KEY is held, and by which holder.";
    spec.examples = {{"rlock lock status -q deploy && echo \"a deployment is running\"", ""},
                     {"rlock lock status -q deploy --owner \"$owner\" || exit", ""}};
    declare_shared(spec, "ask whether this owner holds KEY", {});
    declare_verbosity(spec, {.help = "print nothing: the exit status is the answer"},
                      {.help = "also print owner ids in full"});
    declare_json(spec, json_, "print the JSON document of rlock inspect");
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_, Session::Access::looks};
    const FoundHold found = find(session, session.name(key_));
    const std::vector<Inspection>& seen = found.views.seen;
    if (json_) {
      print_line(inspection_document(seen, /*complete=*/true).str());
    } else if (verbosity() != Verbosity::quiet) {
      print(inspections_text(seen));
    }
    if (found.key.absent()) say_if_pattern(found.key.name);
    const std::size_t most = found.owner ? lives(*found.owner, seen) : most_nodes_that_see(found.key, seen);
    return has_quorum(session, found.key.name, most, found.views.silent) ? exit_code::ok : exit_code::no;
  }

 private:
  /// The sights of the holder that most servers see.
  static std::size_t most_nodes_that_see(const Inspection& key, const std::vector<Inspection>& seen) {
    std::size_t most = 0;
    for (const Holder& holder : key.holders) most = std::max(most, nodes_that_see(seen, holder.owner));
    return most;
  }

  /// On how many servers the owner holds. A reader whose lease has ended is seen as long as others read.
  static std::size_t lives(const Owner& owner, const std::vector<Inspection>& seen) {
    return static_cast<std::size_t>(std::ranges::count_if(seen, [&](const Inspection& view) {
      return std::ranges::any_of(view.holders, [&](const Holder& holder) {
        return holder.owner == owner && holder.ttl != Milliseconds{0};
      });
    }));
  }
};

}  // namespace

VerbRows lock_verbs() {
  static constexpr std::array kRows{
      VerbEntry{.name = "lock release",
                .summary = "release a lock by its owner id",
                .takes = takes::keys | takes::server,
                .exits = "0 released, 1 KEY is free or has another owner",
                .create = create<LockRelease>},
      VerbEntry{.name = "lock renew",
                .summary = "start the lease of a lock again",
                .takes = takes::keys | takes::server,
                .exits = "0 renewed, 1 KEY is free or has another owner",
                .create = create<LockRenew>},
      VerbEntry{.name = "lock status",
                .summary = "print whether a lock is held, and by which holder",
                .takes = takes::key | takes::server,
                .exits = "0 KEY is held (by --owner), 1 KEY is free (or has another owner)",
                .create = create<LockStatus>}};
  return kRows;
}

}  // namespace rlock
