// rlock lock acquire: acquires a lock for a script that cannot wrap its commands. The steps of act() and acquire():
//
//   check()       What the options and the script forbid is refused before rlock looks for a server.
//   descriptors   With --while-pid: a keeper that could not open what it needs must not begin after the acquire.
//   open_events() Before the wait, which is reported, too.
//   HoldWait      The wait, as in rlock run.
//   hand_over()   Prints the owner and leaves a keeper behind (hand_over.cpp).
//
// Without a lock, exit_without_lock() prints why. With --export, a failure also prints code that gives `eval` our exit
// status. So if a signal ends the wait, rlock exits with that status, and does not die of the signal.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/as_given.h"
#include "base/key_text.h"
#include "base/text.h"
#include "cmd/ask/inspector.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/hold/report/events.h"
#include "cmd/hold/report/hold_environment.h"
#include "cmd/hold/report/hold_report.h"
#include "cmd/hold/request/hold_options.h"
#include "cmd/hold/request/holder_facts.h"
#include "cmd/hold/wait/hold_wait.h"
#include "cmd/hold/wait/script_watch.h"
#include "cmd/server/key_options.h"
#include "cmd/server/session.h"
#include "cmd/verbs/hand_over.h"
#include "cmd/verbs/lease_option.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/inspection_json.h"
#include "process/std_descriptors.h"
#include "sync/hold/lease.h"

namespace rlock {
namespace {

/// How long to look for the holders of a busy key, for the document of --json.
constexpr Milliseconds kLooksFor{500};

class LockAcquire final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> command) override;
  void failed(const Error& error) noexcept override;

 private:
  void declare_what(VerbSpec& spec);
  void declare_export(VerbSpec& spec);
  void declare_keeper(VerbSpec& spec);
  void check();
  void plan_hold();
  void check_owner() const;
  int acquire(Session& session);
  void open_events();
  int exit_without_lock(const GaveUp& gave_up, Session& session, HoldWait& wait);

  HoldRequest request_;
  std::optional<Milliseconds> lease_;
  std::optional<std::int64_t> while_pid_;
  std::optional<Shell> export_;  ///< --export
  Events events_;
};

void LockAcquire::declare(VerbSpec& spec) {
  spec.usage = {"lock acquire [OPTIONS] KEY... --while-pid PID", "lock acquire [OPTIONS] KEY... --lease DUR"};
  spec.about =
      "Acquire a lock for a script and print its owner id, which lock release and renew take. With "
      "--while-pid, rlock renews the lock until that process ends, and stops the process before the lock "
      "can end. Without it, the lock ends with its lease.";
  spec.examples = {
      {"owner=$(rlock lock acquire deploy --while-pid $$) || exit", ""},
      {"rlock lock release deploy --owner \"$owner\"", ""},
      {"code=$(rlock lock acquire deploy --while-pid $$ --export) && eval \"$code\" || exit", ""},
      {"rlock lock acquire -n deploy --lease 1h --owner \"ci-${CI_JOB_ID:?}\"", ""}};
  spec.common = "while-pid lease shared owner wait export json";
  declare_keys(spec, keys_);
  declare_what(spec);
  declare_keeper(spec);
  declare_wait(spec, request_.wait);
  declare_queue(spec, request_);
  spec.group("Reports");
  declare_remarks(spec, request_);
  declare_events(
      spec, request_,
      "rlock-run(1) describes the lines. acquire writes those for waiting, acquired and gave-up. The keeper "
      "of --while-pid writes the others. The field pid of each line is PID. Without --while-pid no process stays, so "
      "acquired is the last line. A number is an open descriptor. If stdout is a pipe, as in owner=$(...), and the events "
      "go to it, rlock exits with status 64. rlock-json(5) has the fields.",
      "rlock and its keeper send the events of --events to the systemd journal or to the syslog daemon: see --syslog in "
      "rlock-run(1).");
  declare_export(spec);
  declare_json(spec, json_, "print a JSON document", "If the lock is busy, the document lists its holders.");
  spec.group("Rarely needed");
  declare_sync_replicas(spec, request_);
  declare_server_options(spec, server_);
}

void LockAcquire::declare_what(VerbSpec& spec) {
  spec.group("What to acquire");
  Option& lease = declare_lease(
      spec, lease_, "let the lock end after DUR, unless it is renewed",
      "Without --while-pid no process renews the lock: give --lease, or rlock exits with status 64. With "
      "--while-pid the default is 30s; RLOCK_LEASE in the environment and lease in rlock.conf(5) set another "
      "default.");
  lease.configurable = true;
  lease.variable = "RLOCK_LEASE";
  lease.set_default = into(request_.lease);
  const TakeType take = [this](const LockType& type, std::string_view) {
    refuse_other_type(request_.type, type);
    request_.type = &type;
  };
  declare_type_switches(spec, take);
  declare_permits(spec, request_, take);
  declare_type(spec, take);
  declare_owner(
      spec, request_.owner, "acquire KEY as this owner",
      "ID has 1 to 256 printable characters of ASCII and no blanks. With --type plain, it cannot be a number "
      "of 16 digits or fewer, because that looks like a semaphore. If this owner already holds KEY, its lease starts "
      "again. With --while-pid, rlock then renews at least every 10s, because a Java service may be the same owner, and its "
      "renewal cuts the TTL to 30s. Default: a new id.");
  spec.add(
      {.names = "--again",
       .help = "add a hold if the owner already holds KEY",
       .manual =
           "The owner then has to release KEY once more. The option needs --owner. You cannot use it with "
           "--while-pid, or with --type plain and permit, whose holds are not counted.",
       .set = into(request_.again)});
}

void LockAcquire::declare_export(VerbSpec& spec) {
  spec.add(
      {.names = "--export",
       .value = "SHELL",
       .alone = "sh",
       .help = "print shell code that sets RLOCK_OWNER, ...",
       .manual =
           "In sh, write: code=$(rlock lock acquire KEY --while-pid $$ --export) && eval \"$code\" || exit. In fish, "
           "write: set code (rlock lock acquire KEY --while-pid $fish_pid --export=fish | string collect); and eval "
           "$code; or exit. The code sets RLOCK_OWNER, RLOCK_KEY and RLOCK_STACK for the rest of the script. With "
           "--fenced it also sets RLOCK_FENCE, and with --type permit RLOCK_SLOT and RLOCK_SLOTS. If rlock fails, it "
           "prints code that returns its exit status, so eval \"$(rlock ...)\" || exit ends the script, too. But with "
           "that line the script goes on without the lock if rlock is not found or is killed.",
       .offer = Offer::choices,
       .choices = "sh fish",
       .set = [this](std::string_view text) {
         export_ = Shell::posix;  // set first, because a refusal is printed for a shell, too
         if (place_among("sh fish", text) == 1) export_ = Shell::fish;
       }});
}

void LockAcquire::declare_keeper(VerbSpec& spec) {
  spec.group("For a script");
  spec.add(
      {.names = "--while-pid",
       .value = "PID",
       .help = "keep the lock until process PID ends (write $$)",
       .manual =
           "rlock leaves a process behind, the keeper. It renews the lock until PID ends or you release the lock; "
           "then it releases the lock and ends. If the lock is lost, it stops PID and the processes that PID has "
           "started. See ACQUIRE WITH A KEEPER in rlock-lock(1).",
       .set = number_between(while_pid_, 1, std::numeric_limits<pid_t>::max())});
  declare_on_lost(spec, request_, "stop PID or warn if the lock is lost",
                  "With warn, the keeper prints a message and ends, and PID goes on.");
  declare_signal(
      spec, request_,
      "Send SIG to PID and the processes that PID has started, to stop them. SIG is a name or a number: "
      "TERM, SIGTERM or 15.",
      "Send KILL if one of these processes still runs DUR after the signal. If the lock is lost and the lease is too "
      "short for DUR, KILL comes a sixth of the lease after the signal.");
}

void LockAcquire::check() {
  if (export_ && json_) throw Error{Error::usage, "--export and --json exclude each other"};
  if (!request_.type) request_.type = standard_lock_type();
  request_.renew = while_pid_.has_value();
  // Without a keeper, no process would renew a joined hold when the outer hold has ended.
  request_.joining.allowed = while_pid_ && !request_.owner;
  request_.joining.way = request_.owner ? "; leave out --owner to take a hold inside that one"
                                        : "; add --while-pid $$ to take a hold inside that one";
  plan_hold();
  check_owner();
}

/// A keeper renews the lock until its script ends. Without it, the lock lasts for one lease, which the user has to
/// name.
void LockAcquire::plan_hold() {
  if (while_pid_) {
    request_.script = expect_script(static_cast<pid_t>(*while_pid_));
    request_.lease = lease_.value_or(request_.lease);
    return request_.plan_time(std::nullopt);
  }
  if (!lease_) {
    const std::string configured = as_given("lease", "");
    throw Error{
        Error::usage,
        fmt::format(
            "--lease is missing: no process renews this lock, so rlock needs to know when it ends; or use "
            "--while-pid $$, or rlock run -k KEY -- COMMAND{}",
            configured.empty() ? "" : fmt::format(". {} is for locks that rlock renews", configured))};
  }
  request_.lease = *lease_;
  request_.good_for = valid_for(request_.lease);
  if (request_.lease < kShortestLease)
    throw Error{Error::config, fmt::format("--lease {} is over before any answer; it needs {} or more",
                                           exact(request_.lease), exact(kShortestLease))};
}

/// The key of a plain lock holds only the owner id. If the id is a number of at most 16 characters, the key looks like
/// a semaphore (lua/shared/redis/kind_of). Then `rlock lock release` would refuse it, and `rlock sem` would change it.
bool looks_like_a_semaphore(std::string_view token) { return token.size() <= 16 && parse_integer(token); }

void LockAcquire::check_owner() const {
  if (request_.owner && request_.type->bare_owner && looks_like_a_semaphore(request_.owner->str()))
    throw Error{
        Error::usage,
        fmt::format("--owner {0} with --type plain: the key would look like a semaphore; use an id with a "
                    "letter, as in id-{0}",
                    request_.owner->str())};
  if (!request_.again) return;
  if (!request_.owner) throw Error{Error::usage, "--again needs --owner"};
  if (!request_.type->only_one_hold.empty())
    throw Error{Error::usage,
                fmt::format("--again with --type {}: {}", request_.type->name, request_.type->only_one_hold)};
  if (request_.script)
    throw Error{Error::usage,
                "--again with --while-pid: the keeper would not know which of the holds is its own"};
}

/// The busy key, for the document of --json. The wait is over, so a server that does not answer soon is not waited for: then
/// no holder is known.
Inspection seen_soon(Session& session, const LockName& key) {
  if (session.given_away()) return {.name = key};  // the connections serve no more calls
  Inspector inspector{session, {key}};
  const TimePoint until = plus(session.now(), kLooksFor);
  for (inspector.advance(); !inspector.over() && session.now() < until; inspector.advance())
    session.loop.turn(earliest(inspector.wake_at(), until));
  const auto& result = inspector.results().front();
  return result && !result->failure ? agreed(result->views.seen) : Inspection{.name = key};
}

Json busy_json(const Inspection& seen) {
  return Json::document({{"outcome", Json::word("busy")},
                         {"key", seen.name},
                         {"name", typed(seen.name)},
                         {"holders", Json::list(seen.holders, holder_json)}});
}

Json superseded_json(const std::vector<LockName>& names, const Refused& why) {
  return Json::document(
      {{"outcome", Json::word("superseded")}, {"keys", Json::keys(names)}, {"error", why.text}});
}

/// With --json, also prints the holders of the busy key, or the newer waiter.
int LockAcquire::exit_without_lock(const GaveUp& gave_up, Session& session, HoldWait& wait) {
  const bool ended_busy =
      gave_up.busy && (gave_up.why == GaveUp::Why::busy || gave_up.why == GaveUp::Why::interrupted);
  const NotHeld not_held = wait.report_not_held(gave_up);
  if (json_ && ended_busy && !session.signals.ended())
    print_line(busy_json(seen_soon(session, gave_up.busy->key)).str());
  HoldReport report = report_of(request_);
  report_gave_up(report, session.redis, gave_up, not_held);
  events_.ended(report);
  if (json_ && not_held.why == NotHeld::Why::superseded)
    print_line(superseded_json(request_.names, *gave_up.refused).str());
  if (not_held.signal) throw EndedBySignal{*not_held.signal};
  return not_held.exit;
}

/// Opens the outputs of events, but refuses stdout. The keeper would have that pipe, too, so a reader of the owner id
/// would wait for the end of the keeper.
void LockAcquire::open_events() {
  events_.open(request_);
  if (std::ranges::none_of(events_.descriptors(), is_our_stdout)) return;
  events_ = {};
  throw Error{
      Error::usage,
      fmt::format("--events {}: this is the standard output, from which you read the owner id; name a file",
                  in_quotes(request_.events))};
}

void LockAcquire::failed(const Error& error) noexcept {
  HoldReport report = report_of(request_);
  report_failed(report, error);
  events_.ended(report);
}

int LockAcquire::act(TimePoint started, std::vector<std::string>) {
  request_.started = started;
  check();
  Session session{server_, request_.wait};
  const int exit = acquire(session);
  if (exit != 0 && export_)
    static_cast<void>(try_print(failure_text(exit, *export_), until_killed(STDOUT_FILENO)));
  return exit;
}

/// The exit status. With --export a signal is one, too: if rlock died of it, it could print no code.
int LockAcquire::acquire(Session& session) try {
  request_.complete(session.deployment, keys_);
  if (request_.script) expect_descriptors(session.redis.nodes());
  open_events();
  HoldWait wait{session, request_, about_script(request_), events_.observer()};
  const auto got = wait.run();
  if (const auto* gave_up = std::get_if<GaveUp>(&got)) return exit_without_lock(*gave_up, session, wait);
  hand_over(session, std::get<HeldKeys>(got), {.json = json_, .shell = export_}, events_);
  return exit_code::ok;
} catch (const EndedBySignal& ended) {
  if (!export_) throw;
  return 128 + ended.number;
}

}  // namespace

VerbRows lock_acquire_verbs() {
  static constexpr VerbEntry kRow{
      .name = "lock acquire",
      .summary = "acquire a lock for a script; print its owner id",
      .exits =
          "0 acquired, 75 busy, 64 usage, 65 other type, 69 no server, 71 rlock could not print the owner id or leave a "
          "keeper, and has released the lock, 77 78 errors",
      .create = create<LockAcquire>};
  return {&kRow, 1};
}

}  // namespace rlock
