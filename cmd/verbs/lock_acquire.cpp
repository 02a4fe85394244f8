// rlock lock acquire: take a lock for a script that cannot wrap its commands.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/key_text.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/run/lock_types.h"
#include "cmd/run/script_facts.h"
#include "cmd/server/session.h"
#include "cmd/verbs/lease_option.h"
#include "cmd/verbs/owner_option.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/refusal.h"
#include "sync/lease.h"
#include "sync/metadata.h"

namespace rlock {
namespace {

class Acquire final : public Verb {
 public:
  VerbSpec spec() override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  std::unique_ptr<Lockable> make(const Session& session, bool again) const;
  Wish wish(const Session& session, bool again);
  Acquired take(Session& session, TimePoint started, bool again, WaitLines& lines);
  int hand_over(Session& session, const Taken& taken, TimePoint started) const;
  int unprinted(Session& session, int error) const;

  std::string key_;
  std::optional<Milliseconds> lease_;
  const LockType* type_ = nullptr;
  std::optional<Owner> given_owner_;
  bool again_ = false;
  bool json_ = false;
  WaitOptions wait_;
  ServerOptions server_;

  Owner owner_;
  std::shared_ptr<const Lockable> lock_;
  std::vector<Part> parts_;
};

VerbSpec Acquire::spec() {
  VerbSpec spec{
      .verb = "lock acquire",
      .usage = {"lock acquire [OPTIONS] KEY --lease DUR"},
      .about =
          "Take a lock and print its owner id, by which it is released or renewed.\n"
          "Nobody renews it: it ends with its lease. rlock run is safer, where a command\n"
          "can be wrapped.",
      .notes =
          "Exit status: 0 held, 75 not acquired, 64 usage, 65 other type, 69 no server,\n"
          "71 the owner id could not be printed (the lock is given back), 77 78 errors.",
      .examples = {{"owner=$(rlock lock acquire deploy --lease 10m) || exit", ""},
                   {"rlock lock release deploy --owner \"$owner\"", ""},
                   {"rlock lock acquire -n deploy --lease 1h --owner \"ci-$CI_JOB_ID\"", ""}},
  };
  declare_key(spec, key_);
  spec.group("What to take");
  declare_lease(spec, lease_, "the lock ends after this (required)");
  const TakeType take = [this](const LockType& type, std::string_view) {
    refuse_other_type(type_, type);
    type_ = &type;
  };
  declare_type_switches(spec, take);
  declare_type(spec, take);
  declare_owner(spec, given_owner_, "who has KEY already keeps it, with a new lease");
  spec.add({.names = "--again",
            .help = "one more hold of an owner who has KEY",
            .manual = "Needs --owner. Not for plain and permit, whose holds are not counted.",
            .set = into(again_)});
  declare_wait(spec, wait_);
  spec.group("Telling");
  spec.add(
      {.names = "--json", .help = "all facts in one document, instead of the owner id", .set = into(json_)});
  declare_server_options(spec, server_);
  return spec;
}

std::unique_ptr<Lockable> Acquire::make(const Session& session, bool again) const {
  return type_->make({.claim = {.name = session.name(key_),
                                .owner = owner_,
                                .lease = *lease_,
                                .pub_sub = session.deployment.pub_sub(),
                                .owner_returns = given_owner_.has_value(),
                                .turn = session.deployment.turn(!wait_.nonblock)},
                      .again = again,
                      .waits = !wait_.nonblock});
}

Wish Acquire::wish(const Session& session, bool again) {
  lock_ = make(session, again);
  parts_ = {
      {.lock = lock_,
       .followers = {write_metadata(lock_->name(), owner_, lock_->evidence(), *lease_, about_the_script())},
       .release_followers = {erase_metadata(lock_->name(), owner_, lock_->evidence())}}};
  return {.parts = parts_};
}

Acquired Acquire::take(Session& session, TimePoint started, bool again, WaitLines& lines) {
  AcquireOptions options = session.waiting(wait_, started, lines);
  options.node_timeout = node_timeout(*lease_, session.deployment.timeouts.command);
  options.good_for = valid_for(*lease_);
  options.renew_identity = [&](NewIdentity renewed) {
    if (renewed == NewIdentity::owner && !given_owner_) owner_ = new_owner();
    return wish(session, again);
  };
  return acquire(session.redis, wish(session, again), options);
}

/// Prints the owner. A lock of which nobody knows is given back.
int Acquire::hand_over(Session& session, const Taken& taken, TimePoint started) const {
  const Held& held = taken.held.front();
  const auto waited = std::chrono::duration_cast<Milliseconds>(taken.asked - started);
  const std::string text = json_ ? Json::object({{"v", 1},
                                                 {"key", lock_->name()},
                                                 {"name", typed(lock_->name())},
                                                 {"type", Json::word(type_->name)},
                                                 {"owner", Json::word(owner_.str())},
                                                 {"fence", held.fence},
                                                 {"lease_ms", *lease_},
                                                 {"acquired_at", held.server_time},
                                                 {"waited_ms", waited}})
                                       .str()
                                 : owner_.str();
  const int failed = try_print(text + "\n");
  return failed == 0 ? exit_code::ok : unprinted(session, failed);
}

/// Undoes what this call has taken, and nothing that the owner had before.
int Acquire::unprinted(Session& session, int error) const {
  const Votes votes = session.redis.run_all(*lock_->undo(Wake::waiters),
                                            persistently(parts_.front().release_followers), within(kGoodbye));
  const bool undone = std::ranges::any_of(votes, [&](const Vote& vote) {
    if (!vote.reply) return false;
    const ReleaseAnswer answer = lock_->read_release(*vote.reply);
    const auto* released = std::get_if<Released>(&answer);
    return released != nullptr && released->how != Released::How::was_not_ours;
  });
  throw Error{Error::system,
              fmt::format("write error on stdout: {}; {} {}", std::strerror(error), quoted(lock_->name()),
                          undone ? "was given back" : "stays held, as it was before")};
}

int Acquire::act(TimePoint started, std::vector<std::string>) {
  if (!type_) type_ = find_lock_type("lock");
  if (!lease_)
    throw Error{Error::usage, "--lease is missing: nobody renews this lock, so say how long it is to last"};
  if (valid_for(*lease_) <= Milliseconds{0})
    throw Error{Error::config, fmt::format("--lease {} is over before any answer; it needs 100ms or more",
                                           describe(*lease_))};
  if (again_ && !given_owner_) throw Error{Error::usage, "--again: whose? it needs --owner"};
  if (again_ && !type_->only_one_hold.empty())
    throw Error{Error::usage, fmt::format("--again with --type {}: {}", type_->name, type_->only_one_hold)};
  owner_ = given_owner_.value_or(new_owner());

  Session session{server_, &wait_};
  need_few_servers(*type_, session.redis.nodes());
  WaitLines lines{session.redis,
                  session.signals,
                  {session.deployment, started, wait_, {session.name(key_)}, std::string{type_->busy_text}}};
  Acquired got = take(session, started, again_, lines);
  // Who does not have it yet takes it for the first time.
  const auto* gave_up = std::get_if<GaveUp>(&got);
  if (again_ && gave_up && gave_up->refused && gave_up->refused->why == Refused::Why::absent)
    got = take(session, started, false, lines);

  if (std::holds_alternative<Taken>(got)) lines.acquired();
  if (const auto* taken = std::get_if<Taken>(&got)) return hand_over(session, *taken, started);
  return end_in_vain(std::get<GaveUp>(got), session, lines, wait_);
}

}  // namespace

std::unique_ptr<Verb> lock_acquire_verb() { return std::make_unique<Acquire>(); }

}  // namespace rlock
