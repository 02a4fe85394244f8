// rlock lock release | renew | status: what follows rlock lock
// acquire. Each finds the kind of lock from what stands there.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ask/survey.h"
#include "cmd/cli/exit_code.h"
#include "cmd/run/inherited_hold.h"
#include "cmd/server/owner_option.h"
#include "cmd/verbs/found_lock.h"
#include "cmd/verbs/lease_option.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/history_text.h"
#include "cmd/view/inspection.h"
#include "sync/hold/release.h"
#include "sync/watch/holder_messages.h"

namespace rlock {
namespace {

/// What the three of them share: a key, an owner, a kind that may be named.
class LockVerb : public Verb {
 protected:
  void declare_shared(VerbSpec& spec) {
    spec.group("Which hold");
    declare_owner(spec, given_, owner_help_, owner_manual_);
    spec.add({.names = "--type",
              .value = "T",
              .help = "exit with status 65 if KEY has another type",
              .offer = Offer::choices,
              .choices = lock_type_names(),
              .set = choice(type_, lock_type_names())});
  }

  /// What each server sees; of several those that do not answer are named. The name of a hold inside another
  /// one is known by the owner that it names, unless there is an owner of just that name.
  Views views_of(Session& session) {
    Views views = inspect_each(session, session.name(key_));
    for (const std::string& server : views.silent) complain(server);
    owner_ = given_;
    if (owner_ && owner_in(*owner_) && sights(views.seen, *owner_) == 0) owner_ = owner_in(*owner_);
    expect_lock(agreed(views.seen, owner_), type_, owner_);
    return views;
  }

  Inspection find(Session& session) { return agreed(views_of(session).seen, owner_); }

  /// As typed, else as lock acquire --export has set it: RLOCK_KEY stands beside it then. The RLOCK_OWNER of
  /// rlock run does not count: that hold is not the script's to release.
  void require_owner() {
    const char* const owner = std::getenv("RLOCK_OWNER");
    const char* const exported = std::getenv("RLOCK_KEY");
    if (!given_ && owner != nullptr && exported != nullptr) {
      const std::vector<std::string> held = split(exported, '\n');
      const bool all = std::ranges::all_of(
          keys_, [&](const std::string& key) { return std::ranges::find(held, key) != held.end(); });
      if (all) given_ = parse_owner(owner);
    }
    if (!given_)
      throw Error{Error::usage,
                  fmt::format("--owner is missing: rlock lock acquire has printed it, or --export sets it{}",
                              owner_among_keys())};
  }

  /// An owner has a colon in it, as rlock and Redisson make them.
  std::string owner_among_keys() const {
    const std::string& last = keys_.back();
    if (keys_.size() < 2 || last.find(':') == std::string::npos) return "";
    return fmt::format("; did you mean --owner {}?", sanitized(last));
  }

  /// Does it for each of the keys; the worst exit status counts.
  template <class Act>
  int for_each_key(const Act& act) {
    int worst = exit_code::ok;
    for (const std::string& key : keys_) {
      key_ = key;
      worst = std::max(worst, act());
    }
    return worst;
  }

  int not_held(const Inspection& found) const {
    const std::string key = quoted(found.name);
    tell(found.holders.empty() ? fmt::format("{} is free", key)
                               : fmt::format("{} is not held by owner {}; see: rlock inspect {}", key,
                                             in_quotes(owner_->str()), words_for(found.name)));
    return exit_code::no;
  }
  std::string type_;
  std::optional<Owner> given_;  ///< as typed
  std::optional<Owner> owner_;  ///< who holds it then
  std::string_view owner_help_ = "name the owner; lock acquire has printed its id";
  std::string_view owner_manual_ = "Without it, RLOCK_OWNER counts if lock acquire --export has set it.";
};

/// For how long a keeper of this hold may not have noticed that it was released. Longer than most leases;
/// where a lease is longer, a keeper that hears nothing for a minute finds the hold gone, and stops its
/// script.
constexpr Milliseconds kMarkStays{60000};

class Release final : public LockVerb {
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
    return for_each_key([&] { return release_one(session); });
  }

 private:
  int release_one(Session& session) {
    const TimePoint looked = session.loop.now();
    const Inspection found = find(session);
    const Owner owner = *owner_;
    // What remains of several holds keeps its own lease.
    const std::shared_ptr<const Lockable> lock = found_lock(found, {.name = found.name,
                                                                    .owner = owner,
                                                                    .lease = Milliseconds{1},
                                                                    .pub_sub = session.deployment.pub_sub(),
                                                                    .owner_returns = true});
    if (!lock) return not_held(found);
    const Holder* holder = holder_named(found, owner);
    const bool has_keeper = !holder->meta || holder->meta->renews;
    if (has_keeper) session.ask(mark_released(found.name, *given_, kMarkStays));
    Call ends = erase_metadata(found.name, owner, lock->evidence());
    if (session.deployment.history && holder->meta)
      ends = write_end(found.name, owner, lock->evidence(),
                       past_of(found, *holder, looked, {.outcome = "released"}), WriteEnd::if_it_ended);
    Part part{.lock = lock, .release_followers = {std::move(ends)}};
    const ReleaseResult back =
        release(session.redis, {&part, 1}, {}, within(session.deployment.timeouts.command)).front();
    if (has_keeper) static_cast<void>(session.any_answers(tell_holder(found.name, owner, "released")));
    if (!back.unannounced.empty())
      complain(fmt::format("released {}, but could not wake up its waiters: {}", quoted(found.name),
                           sanitized(back.unannounced)));
    if (back.how == ReleaseResult::How::not_ours) return not_held(found);
    if (back.how == ReleaseResult::How::unknown)
      throw Error{Error::unreachable,
                  fmt::format("release of {} not confirmed: {}", quoted(found.name), back.why)};
    return exit_code::ok;
  }
};

class Renew final : public LockVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.usage = {"lock renew [OPTIONS] KEY... [--owner ID]"};
    spec.about =
        "Start the lease of a lock again that rlock lock acquire has acquired. rlock refuses\na --lease that "
        "is shorter than the time that is left.";
    spec.examples = {{"rlock lock renew deploy --owner \"$owner\" || exit", ""},
                     {"rlock lock renew deploy --owner \"$owner\" --lease 30m", ""}};
    declare_shared(spec);
    declare_renewed_lease(spec, lease_);
  }

  int act(TimePoint, std::vector<std::string>) override {
    require_owner();
    Session session{server_};
    return for_each_key([&] { return renew_one(session); });
  }

 private:
  int renew_one(Session& session) {
    const Inspection found = find(session);
    const Owner owner = *owner_;
    const Holder* holder = holder_named(found, owner);
    if (!holder) return not_held(found);
    const Milliseconds lease = renewed_lease(lease_, *holder);
    if (lease_ && holder->ttl && *holder->ttl > lease)
      throw Error{
          Error::usage,
          fmt::format(
              "--lease {}: {} is held for {} more, and rlock never shortens a lease, because another hold of its "
              "owner may need it; to end the hold: rlock lock release",
              describe(lease), quoted(found.name), describe(*holder->ttl))};
    const auto lock = found_lock(found, {.name = found.name, .owner = owner, .lease = lease});
    if (!lock) return not_held(found);
    Delivery delivery = persistently();
    if (holder->meta)
      delivery.followers = {write_metadata(found.name, owner, lock->evidence(), lease, *holder->meta)};
    std::size_t renewed = 0;
    for (const Reply& reply : session.ask_all(lock->renew(), delivery)) {
      const RenewAnswer answer = lock->read_renewal(reply);
      if (const auto* failure = std::get_if<Failure>(&answer)) failure->fly();
      if (std::holds_alternative<Renewed>(answer)) ++renewed;
    }
    return renewed >= session.redis.quorum() ? exit_code::ok : not_held(found);
  }

  std::optional<Milliseconds> lease_;
};

class Status final : public LockVerb {
 public:
  Status() {
    owner_help_ = "ask whether this owner holds KEY";
    owner_manual_ = {};
  }

  void declare(VerbSpec& spec) override {
    spec.about = "Print whether KEY is held, and by which holder.";
    spec.examples = {{"rlock lock status -q deploy && echo \"a deployment is running\"", ""},
                     {"rlock lock status -q deploy --owner \"$owner\" || exit", ""}};
    declare_shared(spec);
    spec.add({.names = "-q, --quiet",
              .help = "print nothing: the exit status is the answer",
              .set = [](std::string_view) { set_verbosity(Verbosity::quiet); }});
    spec.add({.names = "-v, --verbose", .help = "also print owner ids in full", .set = [](std::string_view) {
                set_verbosity(Verbosity::verbose);
              }});
    spec.add({.names = "--json", .help = "print the JSON document of rlock inspect", .set = into(json_)});
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_, nullptr, Session::Access::looks};
    const Views views = views_of(session);
    if (json_) {
      print_line(inspection_document(views.seen, true).str());
    } else if (verbosity() != Verbosity::quiet) {
      print(inspections_text(views.seen));
    }
    if (agreed(views.seen, owner_).absent()) say_if_pattern(agreed(views.seen, owner_).name);
    const auto held_by = [&](const Owner& owner) {
      return sights(views.seen, owner) >= session.redis.quorum();
    };
    const auto& holders = agreed(views.seen, owner_).holders;
    const bool held = owner_ ? held_by(*owner_) : std::ranges::any_of(holders, held_by, &Holder::owner);
    return held ? exit_code::ok : exit_code::no;
  }

 private:
  bool json_ = false;
};

constexpr std::array kRows{
    VerbEntry{"lock release", "release a lock by its owner id", takes::keys | takes::server,
              "0 released, 1 KEY is free or has another owner", create<Release>},
    VerbEntry{"lock renew", "start the lease of a lock again", takes::keys | takes::server,
              "0 renewed, 1 KEY is free or has another owner", create<Renew>},
    VerbEntry{"lock status", "print whether a lock is held, and by which holder", takes::key | takes::server,
              "0 KEY is held (by --owner), 1 KEY is free (or has another owner)", create<Status>}};

}  // namespace

VerbRows lock_verbs() { return kRows; }

}  // namespace rlock
