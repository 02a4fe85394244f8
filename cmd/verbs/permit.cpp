// rlock permit: a pool of permits. Unless it was acquired with --no-lease, a permit has a lease, so the permit of a
// dead holder comes back.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/key_text.h"
#include "base/log.h"
#include "base/owner_id.h"
#include "base/text.h"
#include "cmd/ask/inspector.h"
#include "cmd/ask/unannounced.h"
#include "cmd/ask/wait_lines.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/hold/report/hold_end.h"
#include "cmd/hold/request/holder_facts.h"
#include "cmd/hold/request/lock_types.h"
#include "cmd/hold/wait/ancestor_watch.h"
#include "cmd/verbs/exit_without.h"
#include "cmd/verbs/hand_over.h"
#include "cmd/verbs/lease_option.h"
#include "cmd/verbs/pool_verbs.h"
#include "cmd/verbs/verbs.h"
#include "sync/calls/keys.h"
#include "sync/kinds/permit_lock.h"

namespace rlock {
namespace {

/// The common part of the verbs that name permits by their ids.
class IdsVerb : public PoolVerb {
 protected:
  IdsVerb() : PoolVerb(PoolKind::permits) {}

  void declare_ids(VerbSpec& spec) {
    spec.operands.push_back({.name = "ID", .many = true, .set = [this](std::string_view text) {
                               ids_.push_back(permit_id(text));
                             }});
  }

  /// The exit status: 0 if every permit was changed. Prints those that were not, because no client holds them, or
  /// that there is no pool. `done`: the answer for each id. Throws Error{wrong_type} for a key of another type.
  int exit_status(Session& session, const Pool& there, const std::vector<bool>& done) const {
    const LockName name = session.name(key_);
    if (std::ranges::count(done, true) == 0) {
      const auto answer = there.read_status(session.ask(there.status()));
      if (const auto* refused = std::get_if<Refused>(&answer)) throw Error{Error::wrong_type, refused->text};
      if (!std::get<std::optional<Pool::Status>>(answer)) {
        info(refuse_absent(name, PoolKind::permits).text);
        return exit_code::no;
      }
    }
    if (done.size() != ids_.size())
      throw Error{Error::internal, fmt::format("the server answered about {} permits instead of {}",
                                               done.size(), ids_.size())};
    for (std::size_t i = 0; i < ids_.size(); ++i)
      if (!done[i])
        info(fmt::format("no client holds permit {} of {} any more; see: rlock inspect {}", to_hex(ids_[i]),
                         quoted(name), words_for(name)));
    return std::ranges::count(done, false) == 0 ? exit_code::ok : exit_code::no;
  }

  std::vector<std::string> ids_;
};

/// Redisson's setPermits.
class PermitSet final : public PoolVerb {
 public:
  PermitSet() : PoolVerb(PoolKind::permits) {}

  void declare(VerbSpec& spec) override {
    spec.about =
        "Give a pool the size N, or create a pool of N permits. Acquired permits stay acquired: "
        "a pool that became too small grants none until enough of them are released.";
    spec.examples = {{"rlock permit set seats 6", ""}};
    spec.operands.push_back({.name = "N", .set = number_between(total_, 0, kLargestCount)});
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const Pool there = pool(session);
    return finish(session, there.read(session.ask(there.resize(total_))));
  }

 private:
  std::int64_t total_ = 0;
};

class PermitAcquire final : public PoolVerb {
 public:
  PermitAcquire() : PoolVerb(PoolKind::permits) {}

  void declare(VerbSpec& spec) override {
    spec.usage = {"permit acquire [OPTIONS] KEY --lease DUR", "permit acquire [OPTIONS] KEY --no-lease"};
    spec.about =
        "Acquire permits and print their ids, one on each line. rlock does not renew them: the pool gets "
        "each back when its lease ends. To run a command: rlock run --permits N";
    spec.examples = {{"id=$(rlock permit acquire seats --lease 10m) || exit", ""},
                     {"rlock permit release seats \"$id\"", ""}};
    spec.group("What to acquire");
    declare_lease(spec, lease_, "end the permits after DUR unless you renew them",
                  "You must give --lease or --no-lease.");
    spec.add(
        {.names = "--no-lease",
         .help = "acquire permits that never end",
         .manual =
             "If the process that has the id dies, the pool does not get the permit back. Only a release with the id "
             "returns it. rlock inspect -v prints the ids, and for 30 days also who acquired them.",
         .set = into(no_lease_)});
    spec.add(
        {.names = "--count",
         .value = "N",
         .help = "acquire N permits, all or none",
         .standard = "1",
         .manual =
             "N is from 1 to 1000. If the pool has fewer permits, rlock exits with status 65. If its size is 0, rlock "
             "waits. If N permits cannot become free because the parent processes of rlock hold and renew too many, rlock "
             "exits with status 75 after 1s.",
         .set = number_between(count_, 1, PermitLock::kMostAtOnce)});
    spec.group("Reports");
    declare_json(spec, json_, "print a JSON document instead of the ids");
  }

  int act(TimePoint started, std::vector<std::string>) override {
    if (lease_ && no_lease_) throw Error{Error::usage, "--lease and --no-lease: give one of them"};
    if (!lease_ && !no_lease_)
      throw Error{
          Error::usage,
          "--lease is missing: no process renews these permits, so rlock needs to know when they end; or use --no-lease"};
    Session session{server_, wait_};
    need_one_server(session);
    const std::vector<Part> parts{permits(session)};
    WaitLines lines{session,
                    {.started = started,
                     .wait = wait_,
                     .names = names_of(parts),
                     .state = std::string{kPermitsAreBusy},
                     .is_pool = true}};
    refuse_latch(session, started, wait_);
    AncestorWatch above{
        session.redis,
        {.asks_always = true, .permits = count_, .answer_within = session.deployment.timeouts.command}};
    const AcquireResult got = acquire(session.redis, {.parts = parts}, above.over(lines.options()));
    if (const auto* gave_up = std::get_if<GaveUp>(&got)) return exit_without(*gave_up, lines, above.reason());
    lines.acquired();
    return print_ids(session, parts, std::get<Acquired>(got).held.front());
  }

 private:
  Part permits(const Session& session) const {
    const LockName name = session.name(key_);
    const auto wanted = std::make_shared<const PermitLock>(
        Claim{.name = name,
              .owner = new_owner(),
              .lease = lease_.value_or(Milliseconds{0}),
              .pub_sub = session.deployment.pub_sub(),
              // Without a lease no client would return what a late copy acquires, so the server remembers the
              // request.
              .owner_returns = no_lease_,
              .if_busy = wait_.nonblock ? IfBusy::leave : IfBusy::place},
        PermitLock::Wanted{.count = count_});
    const Milliseconds lease = lease_.value_or(kFactsWithoutLease);
    return {.lock = wanted,
            .followers = {write_metadata(name, wanted->owner(), wanted->hold_entry(), lease,
                                         about_calling_script())},
            .release_followers = {erase_metadata(name, wanted->owner(), wanted->hold_entry())}};
  }

  std::string text_of(const LockName& name, const Held& held) const {
    std::vector<std::string> ids;
    for (const std::string& id : held.permits) ids.push_back(to_hex(id));
    if (!json_) return joined(ids, "\n");
    return Json::document({{"key", name},
                           {"name", typed(name)},
                           {"ids", Json::list(ids, Json::word)},
                           {"lease_ms", lease_},
                           {"acquired_at", held.server_time}})
        .str();
  }

  int print_ids(Session& session, const std::vector<Part>& parts, const Held& held) const {
    const int failed = print_hold(session, text_of(parts.front().lock->name(), held) + "\n");
    if (failed == 0) {
      session.redis.await_followers(session.patience());
      return exit_code::ok;
    }
    const bool released = undo_acquire(session, parts).front() != Undone::unconfirmed;
    if (!released)
      warn(fmt::format("release of permits of {} not confirmed; {}", quoted(parts.front().lock->name()),
                       lease_ ? "each " + unconfirmed_end(lease_) : "see their ids: rlock inspect -v"));
    session.check_signals();
    refuse_output(failed, released ? "; the permits were released" : "");
  }

  std::optional<Milliseconds> lease_;
  bool no_lease_ = false;
  std::int64_t count_ = 1;
};

class PermitRelease final : public IdsVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Release permits and wake up the waiters of the pool.";
    spec.examples = {{"rlock permit release seats \"$id\"", ""}};
    declare_ids(spec);
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const Pool there = pool(session);
    const auto released =
        there.read_release(session.ask(there.release(ids_), with_retries(forget_holders(session))));
    say_unannounced(quoted(session.name(key_)) + ": released", released.unannounced);
    return exit_status(session, there, released.taken);
  }
};

class PermitRenew final : public IdsVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Start the leases of permits again.";
    spec.examples = {{"rlock permit renew seats \"$id\" --lease 10m", ""}};
    declare_ids(spec);
    spec.group("How long");
    declare_renewed_lease(
        spec, lease_,
        "DUR may be shorter than the time that is left. Default: for each permit, the lease "
        "with which it was acquired, or none after --no-lease. In a pool with more than a thousand "
        "taken permits rlock may not find it: then the other permits are renewed, and it exits with 64.");
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const Pool there = pool(session);
    return exit_status(session, there, renew(session, there));
  }

 private:
  /// The permits that get the same lease, as places in ids_, and the notes about their owners, which live as long.
  struct Group {
    std::vector<std::size_t> places{};
    std::map<Owner, Call> notes{};
  };

  /// Throws Error{usage} if the lease of some is not known. The others are renewed.
  std::vector<bool> renew(Session& session, const Pool& there) const {
    std::vector<bool> renewed(ids_.size(), false);
    bool known = true;
    for (const auto& [lease, group] : groups_by_lease(session)) {
      known = known && lease;
      if (!lease) continue;
      std::vector<std::string> ids;
      for (const std::size_t place : group.places) ids.push_back(ids_[place]);
      Delivery delivery = with_retries();
      for (const auto& [owner, note] : group.notes) delivery.followers.push_back(note);
      const std::vector<bool> answers = there.read_renewal(session.ask(there.renew(ids, *lease), delivery));
      for (std::size_t i = 0; i < std::min(ids.size(), answers.size()); ++i)
        renewed[group.places[i]] = answers[i];
    }
    if (!known) refuse_unknown_lease();
    return renewed;
  }

  /// By their new lease; 0: no lease; empty: it is not known. Without --lease, each permit gets the lease with which it
  /// was acquired. Then an id that is not taken is left out.
  std::map<std::optional<Milliseconds>, Group> groups_by_lease(Session& session) const {
    std::map<std::optional<Milliseconds>, Group> groups;
    const LockName name = session.name(key_);
    const Inspection found = inspect(session, name);
    for (std::size_t place = 0; place < ids_.size(); ++place) {
      const std::string& id = ids_[place];
      auto holder = holder_of(found, id);
      // One inspection names a thousand permits, and the one that is wanted.
      if (!holder && !lease_ && found.unnamed > 0)
        holder = holder_of(inspect(session, name, Owner{to_hex(id)}), id);
      if (!holder && !lease_) continue;
      Group& group = groups[lease_ ? lease_ : own_lease(*holder)];
      group.places.push_back(place);
      if (!holder || !noted_lease(*holder)) continue;
      Metadata facts = *holder->facts;
      facts.first_lease = first_lease(*holder);
      group.notes.try_emplace(
          holder->owner, write_metadata(name, holder->owner, {permit_slots_key(name), holder->owner.str()},
                                        lease_.value_or(*facts.first_lease), facts));
    }
    return groups;
  }

  static std::optional<Holder> holder_of(const Inspection& found, const std::string& id) {
    const auto holder = std::ranges::find(found.holders, id, &Holder::permit);
    return holder != found.holders.end() ? std::optional{*holder} : std::nullopt;
  }

  /// The lease with which this permit was acquired, as its note has it.
  static std::optional<Milliseconds> first_lease(const Holder& holder) {
    return holder.facts && holder.facts->first_lease ? holder.facts->first_lease : noted_lease(holder);
  }

  /// The lease with which this permit was acquired; 0: none. Empty: it is not known.
  static std::optional<Milliseconds> own_lease(const Holder& holder) {
    const auto noted = first_lease(holder);
    return !holder.ttl || noted == kFactsWithoutLease ? Milliseconds{0} : noted;
  }

  std::optional<Milliseconds> lease_;
};

}  // namespace

VerbRows permit_verbs() {
  static constexpr std::array kRows{
      VerbEntry{.name = "permit init",
                .summary = "create a pool of N permits",
                .takes = takes::counter | takes::server,
                .exits = "0 created, 1 the pool exists and stays as it is",
                .create = [] { return pool_init_verb(PoolKind::permits); }},
      VerbEntry{.name = "permit add",
                .summary = "add N permits to a pool",
                .takes = takes::counter | takes::server,
                .exits = "0 done, 1 there is no pool",
                .create = [] { return pool_add_verb(PoolKind::permits); }},
      VerbEntry{.name = "permit set",
                .summary = "give a pool another size",
                .takes = takes::counter | takes::server,
                .exits = "0 done",
                .create = create<PermitSet>},
      VerbEntry{
          .name = "permit acquire",
          .summary = "acquire permits for one lease; print their ids",
          .takes = takes::counter | takes::wait | takes::server,
          .exits =
              "0 acquired, 1 there is no pool, 75 busy, 71 rlock could not print the ids and has released the permits",
          .create = create<PermitAcquire>,
          .errors = "64 usage, 65 other type, 69 no server, 77 78 errors"},
      VerbEntry{.name = "permit release",
                .summary = "release permits by their ids",
                .takes = takes::counter | takes::server,
                .exits = "0 done for all ids, 1 at least one is not held any more",
                .create = create<PermitRelease>},
      VerbEntry{.name = "permit renew",
                .summary = "start the leases of permits again",
                .takes = takes::counter | takes::server,
                .exits = "0 done for all ids, 1 at least one is not held any more",
                .create = create<PermitRenew>},
      VerbEntry{.name = "permit status",
                .summary = "print how many permits are available",
                .takes = takes::counter | takes::server | takes::json,
                .exits = "0 the pool exists (--id: and the permit is held), 1 not",
                .create = [] { return pool_status_verb(PoolKind::permits); }},
      VerbEntry{.name = "permit delete",
                .summary = "delete a pool",
                .takes = takes::counter | takes::server,
                .exits = "0 deleted, 1 there is no pool, or you answered no",
                .create = [] { return pool_delete_verb(PoolKind::permits); },
                .errors = kErrorsIfAsking}};
  return kRows;
}

}  // namespace rlock
