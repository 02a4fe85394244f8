// rlock lock acquire: take a lock for a script that cannot wrap its commands.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/ancestry.h"
#include "base/key_text.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/run/lock_set.h"
#include "cmd/run/run_options.h"
#include "cmd/run/script_facts.h"
#include "cmd/run/script_keeper.h"
#include "cmd/run/script_watch.h"
#include "cmd/server/session.h"
#include "cmd/verbs/lease_option.h"
#include "cmd/verbs/owner_option.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/inspection.h"
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
  void declare_keeper(VerbSpec& spec);
  void check();
  std::shared_ptr<const Lockable> make(const Session& session, const LockName& name, bool again) const;
  Wish wish(const Session& session, bool again);
  Acquired take(Session& session, TimePoint started, bool again, WaitLines& lines);
  std::string document(const Taken& taken, TimePoint started) const;
  int hand_over(Session& session, const Taken& taken, TimePoint started) const;
  int in_vain(const GaveUp& gave_up, Session& session, WaitLines& lines) const;
  void keep(Session& session, const Taken& taken, TimePoint started) const;
  bool give_back(Session& session) const;
  std::string all_keys() const;

  RunOptions opt_;  ///< of these those that are declared here
  std::optional<Milliseconds> lease_;
  std::optional<std::int64_t> while_pid_;
  std::optional<Owner> given_owner_;
  bool again_ = false;
  bool json_ = false;

  std::optional<ProcessId> script_;  ///< which --while-pid names
  Owner owner_;
  Metadata facts_;  ///< about the script
  std::vector<Part> parts_;
};

VerbSpec Acquire::spec() {
  VerbSpec spec{
      .verb = "lock acquire",
      .usage = {"lock acquire [OPTIONS] KEY... --while-pid PID", "lock acquire [OPTIONS] KEY... --lease DUR"},
      .about =
          "Take a lock and print its owner id, by which it is released or renewed. With\n"
          "--while-pid it is kept for a script, which is stopped before it can end. Else\n"
          "nobody renews it: it ends with its lease.",
      .notes =
          "Exit status: 0 held, 75 not acquired, 64 usage, 65 other type, 69 no server,\n"
          "71 owner id not printed, or no keeper (the lock is given back), 77 78 errors.",
      .examples = {{"owner=$(rlock lock acquire deploy --while-pid $$) || exit", ""},
                   {"rlock lock release deploy --owner \"$owner\"", ""},
                   {"rlock lock acquire -n deploy --lease 1h --owner \"ci-$CI_JOB_ID\"", ""}},
  };
  declare_keys(spec, opt_.keys);
  spec.group("What to take");
  declare_lease(spec, lease_, "it ends after this; needed without --while-pid");
  const TakeType take = [this](const LockType& type, std::string_view) {
    refuse_other_type(opt_.type, type);
    opt_.type = &type;
  };
  declare_type_switches(spec, take);
  declare_type(spec, take);
  declare_owner(spec, given_owner_, "who has KEY already keeps it, with a new lease");
  spec.add({.names = "--again",
            .help = "one more hold of an owner who has KEY",
            .manual = "Needs --owner. Not for plain and permit, whose holds are not counted.",
            .set = into(again_)});
  declare_keeper(spec);
  declare_wait(spec, opt_.wait);
  spec.group("Telling");
  declare_remarks(spec, opt_);
  spec.add({.names = "--json", .help = "one document, also of who has what is busy", .set = into(json_)});
  spec.group("Rarely");
  declare_sync_replicas(spec, opt_);
  declare_server_options(spec, opt_.server);
  return spec;
}

void Acquire::declare_keeper(VerbSpec& spec) {
  spec.group("For a script");
  spec.add(
      {.names = "--while-pid",
       .value = "PID",
       .help = "keep it until this process ends: $$",
       .manual =
           "A process stays behind that renews the lease (30s unless --lease says otherwise) until PID ends or "
           "the lock is released by its owner; then it gives the lock back, and ends. When the lock is lost, PID "
           "and what it has started get --signal and KILL in time, as the command of rlock run does; a guardian "
           "does that when the keeper is killed, stopped or stuck. What a script that ends leaves behind is left "
           "alone.",
       .set = number(while_pid_, 1, std::numeric_limits<pid_t>::max())});
  declare_on_lost(spec, opt_, "stop PID or warn, when the lock is lost",
                  "With warn it runs on after a message, and the keeper ends.");
  declare_signal(spec, opt_, "TERM, SIGTERM or 15; PID gets it, and what it has started.");
}

void Acquire::check() {
  if (!opt_.type) opt_.type = find_lock_type("lock");
  if (while_pid_) {
    script_ = expect_script(static_cast<pid_t>(*while_pid_));
    opt_.lease = lease_.value_or(opt_.lease);
    opt_.budget = plan_budget(opt_.lease, std::nullopt, opt_.kill_after, true);
    opt_.budget.renew_every = std::min(opt_.budget.renew_every, opt_.type->renewed_within);
  } else {
    if (!lease_)
      throw Error{
          Error::usage,
          "--lease is missing: nobody renews this lock, so say how long it is to last; or --while-pid $$"};
    opt_.lease = *lease_;
    if (valid_for(opt_.lease) <= Milliseconds{0})
      throw Error{Error::config, fmt::format("--lease {} is over before any answer; it needs 100ms or more",
                                             describe(opt_.lease))};
  }
  if (again_ && !given_owner_) throw Error{Error::usage, "--again: whose? it needs --owner"};
  if (again_ && !opt_.type->only_one_hold.empty())
    throw Error{Error::usage,
                fmt::format("--again with --type {}: {}", opt_.type->name, opt_.type->only_one_hold)};
  if (again_ && script_)
    throw Error{Error::usage,
                "--again with --while-pid: the keeper would not know which of the holds is its own"};
}

std::shared_ptr<const Lockable> Acquire::make(const Session& session, const LockName& name,
                                              bool again) const {
  return opt_.type->make({.claim = {.name = name,
                                    .owner = owner_,
                                    .lease = opt_.lease,
                                    .pub_sub = session.deployment.pub_sub(),
                                    .owner_returns = given_owner_.has_value(),
                                    .turn = session.deployment.turn(!opt_.wait.nonblock)},
                          .again = again,
                          .waits = !opt_.wait.nonblock});
}

Wish Acquire::wish(const Session& session, bool again) {
  facts_ = script_ ? about_script(script_->pid) : about_the_script();
  if (script_) facts_.kill_after = opt_.kill_after;
  if (opt_.type->kind->like != nullptr) facts_.type = opt_.type->name;
  if (!opt_.reason.empty()) facts_.reason = opt_.reason;
  facts_.labels = opt_.labels;
  parts_.clear();
  for (const LockName& name : opt_.names) {
    const auto lock = make(session, name, again);
    parts_.push_back({.lock = lock,
                      .followers = {write_metadata(name, owner_, lock->evidence(), opt_.lease, facts_)},
                      .release_followers = {erase_metadata(name, owner_, lock->evidence())}});
  }
  return {.parts = parts_, .together = together_of(parts_, session.deployment)};
}

Acquired Acquire::take(Session& session, TimePoint started, bool again, WaitLines& lines) {
  AcquireOptions options = session.waiting(opt_.wait, started, lines);
  options.node_timeout = node_timeout(opt_.lease, session.deployment.timeouts.command);
  options.good_for = script_ ? opt_.budget.stop_after() : valid_for(opt_.lease);
  options.sync_replicas = static_cast<int>(opt_.sync_replicas);
  options.sync_timeout = opt_.sync_timeout;
  std::optional<ScriptWatch> script;
  if (script_) {  // nobody is to hold, or to stand in a queue, for a script that has ended
    script.emplace(session.loop, *script_);
    options.patience.interrupted = [&] { return session.signals.any() || script->ended(); };
  }
  options.renew_identity = [&](NewIdentity renewed) {
    if (renewed == NewIdentity::owner && !given_owner_) owner_ = new_owner();
    return wish(session, again);
  };
  return acquire(session.redis, wish(session, again), options);
}

std::string Acquire::document(const Taken& taken, TimePoint started) const {
  const Held& held = taken.held.front();
  const auto waited = std::chrono::duration_cast<Milliseconds>(taken.asked - started);
  const bool one = opt_.names.size() == 1;
  std::vector<std::pair<std::string_view, Json>> fields{
      {"v", 1},
      {"key", one ? Json{opt_.names.front()} : Json{}},
      {"name", one ? Json{typed(opt_.names.front())} : Json{}},
      {"type", Json::word(opt_.type->name)},
      {"owner", Json::word(owner_.str())},
      {"fence", one ? Json{held.fence} : Json{}},
      {"lease_ms", opt_.lease},
      {"acquired_at", held.server_time},
      {"waited_ms", waited},
      {"outcome", Json::word("held")}};
  if (!one) fields.emplace_back("keys", Json::keys(opt_.names));
  return Json::object(fields).str();
}

/// Prints the owner, and leaves a keeper behind where one was asked for. A lock of which nobody knows is
/// given back, and so is one that nobody keeps.
int Acquire::hand_over(Session& session, const Taken& taken, TimePoint started) const {
  const std::string text = json_ ? document(taken, started) : owner_.str();
  if (const int failed = try_print(text + "\n")) {
    const bool undone = give_back(session);
    throw Error{Error::system,
                fmt::format("write error on stdout: {}; {} {}", std::strerror(failed), all_keys(),
                            undone ? "was given back" : "stays held, as it was before")};
  }
  if (script_) keep(session, taken, started);
  session.redis.await_followers(session.patience());
  return exit_code::ok;
}

void Acquire::keep(Session& session, const Taken& taken, TimePoint started) const {
  PastHold past{
      .type = std::string{opt_.type->name}, .facts = facts_, .waited = elapsed(started, taken.asked)};
  past.facts.since = taken.held.front().server_time;
  try {
    start_script_keeper({.script = *script_,
                         .deployment = session.deployment,
                         .parts = parts_,
                         .past = std::move(past),
                         .lease = {.asked = taken.asked, .budget = opt_.budget},
                         .signal = opt_.signal,
                         .kill_after = opt_.kill_after,
                         .stop_on_loss = opt_.stop_on_loss,
                         .sync_replicas = static_cast<int>(opt_.sync_replicas),
                         .sync_timeout = opt_.sync_timeout});
  } catch (const Error& error) {  // adds what becomes of the lock
    give_back(session);
    throw Error{error.kind(), fmt::format("{}; {} was given back", error.what(), all_keys())};
  }
}

/// Undoes what this call has taken, and nothing that the owner had before. False: there was nothing.
bool Acquire::give_back(Session& session) const {
  bool undone = false;
  for (const Part& part : parts_) {
    const Votes votes = session.redis.run_all(*part.lock->undo(Wake::waiters),
                                              persistently(part.release_followers), within(kGoodbye));
    for (const Vote& vote : votes) {
      if (!vote.reply) continue;
      const ReleaseAnswer answer = part.lock->read_release(*vote.reply);
      const auto* released = std::get_if<Released>(&answer);
      undone = undone || (released != nullptr && released->how != Released::How::was_not_ours);
    }
  }
  return undone;
}

/// With --json also who has it: the holders of the key that could not be had.
int Acquire::in_vain(const GaveUp& gave_up, Session& session, WaitLines& lines) const {
  if (script_ && gave_up.why == GaveUp::Why::interrupted && !session.signals.any()) {
    complain(fmt::format("process {} has ended: nobody is left to hold {} for", script_->pid, all_keys()));
    return static_cast<int>(opt_.wait.conflict_exit_code);
  }
  if (json_ && gave_up.why == GaveUp::Why::busy && !session.signals.ended()) {
    const LockName busy =
        gave_up.busy->member.empty() ? opt_.names[gave_up.part] : LockName{gave_up.busy->member};
    const Inspection seen = inspect(session, busy);
    std::vector<Json> holders;
    for (const Holder& holder : seen.holders) holders.push_back(holder_json(holder));
    print_line(Json::object({{"v", 1},
                             {"outcome", Json::word("busy")},
                             {"key", busy},
                             {"name", typed(busy)},
                             {"holders", Json::array(holders)}})
                   .str());
  }
  const int exit = end_in_vain(gave_up, session, lines, opt_.wait);
  // As of rlock run: a pool that is not there cannot be taken.
  const bool absent = gave_up.refused && gave_up.refused->why == Refused::Why::absent;
  return absent ? exit_code::wrong_type : exit;
}

std::string Acquire::all_keys() const {
  std::vector<std::string> names;
  for (const LockName& name : opt_.names) names.push_back(quoted(name));
  return joined(names, ", ");
}

int Acquire::act(TimePoint started, std::vector<std::string>) {
  check();
  owner_ = given_owner_.value_or(new_owner());

  Session session{opt_.server, &opt_.wait};
  need_few_servers(*opt_.type, session.redis.nodes());
  for (const std::string& key : opt_.keys) opt_.names.push_back(session.name(key));
  std::ranges::sort(opt_.names);  // everybody takes several in the same order
  const auto twins = std::ranges::unique(opt_.names);
  opt_.names.erase(twins.begin(), twins.end());
  if (opt_.names.size() > 1 && !opt_.type->only_one_key.empty())
    throw Error{Error::usage, fmt::format("--type {} with {} keys: take one after the other", opt_.type->name,
                                          opt_.names.size())};
  WaitLines lines{session.redis,
                  session.signals,
                  {session.deployment, started, opt_.wait, opt_.names, std::string{opt_.type->busy_text}}};
  Acquired got = take(session, started, again_, lines);
  // Who does not have it yet takes it for the first time.
  const auto* gave_up = std::get_if<GaveUp>(&got);
  if (again_ && gave_up && gave_up->refused && gave_up->refused->why == Refused::Why::absent)
    got = take(session, started, false, lines);

  if (std::holds_alternative<Taken>(got)) lines.acquired();
  if (const auto* taken = std::get_if<Taken>(&got)) return hand_over(session, *taken, started);
  return in_vain(std::get<GaveUp>(got), session, lines);
}

}  // namespace

std::unique_ptr<Verb> lock_acquire_verb() { return std::make_unique<Acquire>(); }

}  // namespace rlock
