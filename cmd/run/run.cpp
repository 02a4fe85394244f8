// rlock run from its parsed options to its exit status. run() at the end of this file is where to begin: wait
// (take()), hold (a Keeper renews, a HeldCommand runs), release, say what happened, end as the command did.
// The functions before it are its steps.
//
// The order of the last steps is what keeps the promises. The Keeper stops before the release, so that no
// renewal finds the lock gone and calls it lost. The release comes before anything is said or written, so
// that the next holder does not wait for our terminal or a full disk. And the process ends last by the
// command's own signal, when nothing is left to do.

#include "cmd/run/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>

#include "base/key_text.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/run/command_environment.h"
#include "cmd/run/command_lookup.h"
#include "cmd/run/deadlock_watch.h"
#include "cmd/run/guardian_release.h"
#include "cmd/run/held_command.h"
#include "cmd/run/hold_end.h"
#include "cmd/run/inherited_hold.h"
#include "cmd/run/lock_set.h"
#include "cmd/run/once_watch.h"
#include "cmd/run/run_report.h"
#include "cmd/run/stop_requests.h"
#include "cmd/server/session.h"
#include "cmd/view/latch_guard.h"
#include "cmd/view/wait_lines.h"
#include "sync/keeper.h"
#include "sync/release.h"

namespace rlock {
namespace {

Milliseconds between(TimePoint from, TimePoint to) {
  return std::chrono::duration_cast<Milliseconds>(to - from);
}

std::string all_keys(const RunOptions& opt) {
  std::vector<std::string> names;
  for (const LockName& name : opt.names) names.push_back(quoted(name));
  return joined(names, ", ");
}

/// What else may end the wait of this run than the lock, a signal or its time.
struct Watches {
  std::optional<DeadlockWatch> deadlock;
  std::optional<OnceWatch> once;

  void hear(const Waiting& waiting) {
    if (deadlock) deadlock->hear(waiting);
    if (once) once->hear(waiting);
  }
  bool end_the_wait() { return (deadlock && deadlock->ends_the_wait()) || (once && once->done()); }
};

/// How acquire() is to wait for this run.
AcquireOptions waiting(const RunOptions& opt, const Session& session, WaitLines& lines, Watches& watches) {
  AcquireOptions options = session.waiting(opt.wait, opt.started, lines);
  options.tell = [&lines, &watches](const Waiting& waiting) {
    lines.hear(waiting);
    watches.hear(waiting);
  };
  options.patience.interrupted = [&session, &watches] {
    return session.signals.any() || watches.end_the_wait();
  };
  options.node_timeout = node_timeout(opt.lease, session.deployment.timeouts.command);
  options.good_for = opt.budget.stop_after();  // granted later, the command would be stopped at once
  options.sync_replicas = static_cast<int>(opt.sync_replicas);
  options.sync_timeout = opt.sync_timeout;
  return options;
}

/// A run inside another may wait for itself; one that holds nothing never does. Over several servers nobody
/// says what it waits for.
void watch_for_deadlocks(const RunOptions& opt, Session& session, std::optional<DeadlockWatch>& watch) {
  if (opt.wait.nonblock || session.redis.nodes() > 1) return;
  DeadlockWatch::Options options{.gives_up = opt.give_up_on_deadlock,
                                 .answer_within = session.deployment.timeouts.command};
  for (const InheritedHold& hold : holds_above_us()) options.holds.push_back({hold.key, hold.owner});
  if (!options.holds.empty()) watch.emplace(session.redis, std::move(options));
}

/// Waits for the lock. If an ancestor process holds a key, we join its hold. If the server says that this
/// hold is gone, we try that of the next ancestor. The holds of other keys stay in the list: an ancestor
/// waits until we end, so it can never release them to us.
Acquired take(const RunOptions& opt, Session& session, WaitLines& lines, Watches& watches,
              std::optional<LockSet>& locks) {
  for (std::vector<InheritedHold> above = holds_above_us();;) {
    Owner owner = new_owner();
    const auto wish = [&](NewIdentity renewed) {
      if (renewed == NewIdentity::owner) owner = new_owner();
      locks.emplace(opt, owner, above);
      return locks->wish();
    };
    AcquireOptions options = waiting(opt, session, lines, watches);
    options.renew_identity = wish;
    Acquired got = acquire(session.redis, wish(NewIdentity::requests), options);
    const auto* gave_up = std::get_if<GaveUp>(&got);
    // An ancestor's hold that is gone: RLOCK_STACK is only a hint. One try for each hold that it names.
    const bool absent = gave_up != nullptr && gave_up->why == GaveUp::Why::refused &&
                        gave_up->refused->why == Refused::Why::absent;
    if (!absent || !forget(above, opt.names[gave_up->part])) return got;
  }
}

/// Says why there is no lock, and answers the exit status that says it to a script.
int refuse(const RunOptions& opt, const Session& session, WaitLines& lines, const GaveUp& gave_up) {
  switch (gave_up.why) {
    case GaveUp::Why::busy: lines.give_up(gave_up); return static_cast<int>(opt.wait.conflict_exit_code);
    case GaveUp::Why::refused: complain(gave_up.refused->text); return exit_code::wrong_type;
    case GaveUp::Why::interrupted:
    case GaveUp::Why::unreachable: break;
  }
  const Failure failure = gave_up.failure.value_or(Failure{Error::unreachable, "no answer"});
  complain(session.describe(failure));
  return exit_code::of(failure.kind);
}

/// What each of several nodes answered.
void say_who_voted(const Executor& redis, const std::vector<Answer>& answers) {
  if (redis.nodes() == 1 || answers.empty()) return;
  std::map<Answer, std::vector<std::string>> names;
  for (std::size_t node = 0; node < answers.size(); ++node) names[answers[node]].push_back(redis.str(node));
  std::vector<std::string> groups;
  for (const auto& [word, who] : names)
    groups.push_back(fmt::format("{} {}", text_of(word), joined(who, ", ")));
  mention(fmt::format("{} of {} servers granted it: {}", names[Answer::granted].size(), redis.nodes(),
                      joined(groups, "; ")));
}

/// That another host has done the work is no news for a log: cron would mail it from every host, every time.
void say_that_it_was_done(const std::string& text) {
  if (::isatty(STDERR_FILENO) != 0) {
    tell(text);
  } else {
    mention(text);
  }
}

/// There is no lock: says why, writes the record, and answers the exit status.
int end_without(const RunOptions& opt, const Session& session, WaitLines& lines, Watches& watches,
                const GaveUp& gave_up, RunReport& report, StatusRecord& status) {
  const std::optional<int> signal =
      gave_up.why == GaveUp::Why::interrupted ? session.signals.ended() : std::nullopt;
  const bool is_done = watches.once && !signal && gave_up.busy && watches.once->done_after_all();
  const bool waits_for_itself = watches.deadlock && watches.deadlock->ends_the_wait() && !signal && !is_done;
  say_who_voted(session.redis, gave_up.answers);
  if (signal) lines.interrupted(*signal, gave_up);
  if (waits_for_itself) complain(watches.deadlock->text());
  if (is_done) say_that_it_was_done(watches.once->text());
  const int exit = signal             ? 128 + *signal
                   : is_done          ? exit_code::ok
                   : waits_for_itself ? static_cast<int>(opt.wait.conflict_exit_code)
                                      : refuse(opt, session, lines, gave_up);
  report.waited = between(opt.started, Clock::now());
  report_gave_up(report, session.redis, gave_up, exit);
  if (waits_for_itself) report.outcome = RunReport::Outcome::deadlock;
  if (is_done) report.outcome = RunReport::Outcome::done;
  status.write(report);
  if (signal) die_of(*signal);
  return exit;
}

HoldFacts facts_of(const RunOptions& opt, const LockSet& locks, const Taken& taken) {
  const Held& held = taken.held.front();
  std::vector<std::int64_t> fences;
  for (const Held& one : taken.held)
    if (one.fence) fences.push_back(*one.fence);
  std::vector<InheritedHold> stack = holds_above_us();  // all of them: a run inside ours may enter any
  std::ranges::copy(locks.holds(), std::back_inserter(stack));
  return {.keys = opt.names,
          .type = std::string{opt.type->name},
          .owner = locks.owner(),
          .fences = std::move(fences),
          .lease = opt.lease,
          .acquired_at = held.server_time,
          .waited = between(opt.started, Clock::now()),
          .slots = held.slots,
          .stack = write_holds(stack)};
}

Variables variables_of(const RunOptions& opt, const LockSet& locks, const Taken& taken) {
  Variables variables = describe_hold(facts_of(opt, locks, taken));
  std::ranges::copy(opt.deployment.environment, std::back_inserter(variables));
  if (opt.scrub_password) std::ranges::copy(without_passwords(), std::back_inserter(variables));
  return variables;
}

/// What distinguishes the processes of this run from others: RLOCK_STACK names its own owner, and runs inside
/// this one only add lines to it. Runs that enter the same hold from above share all of that: there the owner
/// and the pid count.
std::vector<std::string> marks_of(const Variables& variables, bool enters) {
  std::vector<std::string> marks;
  for (const auto& [name, value] : variables) {
    const bool tells = enters ? name == "RLOCK_OWNER" || name == "RLOCK_PID" : name == "RLOCK_STACK";
    if (tells) marks.push_back(name + "=" + value.value_or(""));
  }
  return marks;
}

HoldOptions holding(const RunOptions& opt, const LockSet& locks, Variables variables, TimePoint acquired) {
  HoldOptions options;
  options.command = {.argv = opt.command, .variables = std::move(variables), .found = opt.found};
  options.marks = marks_of(options.command.variables, locks.enters());
  options.signal = opt.signal;
  options.kill_after = opt.kill_after;
  if (opt.max_hold) options.max_hold = plus(acquired, *opt.max_hold);
  options.stop_on_loss = opt.stop_on_loss;
  options.until_group = opt.until_group;
  return options;
}

HoldEnd end_by_guardian(RlockEnd end) {
  if (end == RlockEnd::killed) return {.outcome = "killed", .why = "rlock was killed"};
  return {.outcome = "lost", .why = "rlock was stopped, and could not renew it"};
}

/// In the guardian, when this process was killed or stopped and nobody of the command's family lives. --min-hold
/// is kept; with --once-per the next host is to try.
void give_back(const RunOptions& opt, const LockSet& locks, const Taken& taken, Milliseconds waited,
               RlockEnd end) {
  const bool keep = opt.min_hold > Milliseconds{0};
  const PastHold past = locks.past(taken, waited, end_by_guardian(end));
  ReleaseOptions options;
  if (keep) options.keep_until = past.facts.since + opt.min_hold;
  release_in_guardian(opt.deployment, opt.wait, opt.quorum_all, locks.to_release(keep, 128 + SIGKILL, past),
                      options);
}

/// Why it is not ours any more; nothing while it is.
std::optional<Loss> loss_of(const Keeper& keeper, StopRequests& requests) {
  if (!keeper.lost()) return std::nullopt;
  if (keeper.taken_away() && requests.removed()) return Loss::removed_by(*requests.removed());
  return Loss{keeper.why()};
}

HeldLock lock_of(const RunOptions& opt, Keeper& keeper, StopRequests& requests) {
  return {.name = all_keys(opt),
          .deadlines = [&keeper] { return Deadlines{keeper.stop_at(), keeper.kill_at()}; },
          .renewed = opt.renew,
          .asked_to_stop = [&requests] { return requests.asked(); },
          .lost = [&keeper, &requests]() -> std::optional<std::string> {
            if (requests.take_removal()) keeper.look_now();
            const auto loss = loss_of(keeper, requests);
            return loss ? std::optional{loss->why} : std::nullopt;
          }};
}

/// Does the key stay, for --min-hold or because its work is done?
bool stays(const RunOptions& opt, const CommandOutcome& ended, bool lost) {
  if (lost || !ended.ran() || ended.stopped_by) return false;
  if (opt.once_per) return ended.exit_code == 0 && !ended.max_hold;
  return opt.min_hold > Milliseconds{0};
}

/// Nobody has told us in time: the history of a key may.
void look_who_removed_it(Redis& redis, const LockSet& locks, Milliseconds since, Loss& lost) {
  const TimePoint until = plus(Clock::now(), kGoodbye);  // however many keys there are
  for (const Part& part : locks.parts()) {
    if (Clock::now() >= until) return;
    const auto remover = removed_by(redis, *part.lock, since);
    if (!remover) continue;
    lost = Loss::removed_by(*remover);
    return complain(fmt::format("{} was {}", quoted(part.lock->name()), lost.why));
  }
}

/// The release found nothing of ours: it was lost, though nobody may have told the keeper.
void learn_of_loss(Redis& redis, const LockSet& locks, Milliseconds since, bool ran,
                   std::optional<Loss>& lost) {
  if (!lost && ran) lost = Loss{"it was not ours any more at its release"};
  if (lost && !lost->by) look_who_removed_it(redis, locks, since, *lost);
}

/// Of several keys, the end of the one that was removed is written by whoever removed it: this one is for the
/// others.
HoldEnd end_for_history(const RunOptions& opt, const CommandOutcome& ended, const std::optional<Loss>& lost) {
  HoldEnd end = end_of(ended, lost);
  if (!lost || !lost->by || opt.names.size() == 1) return end;
  end.outcome = "lost";
  end.why = fmt::format("one of {} was {}", all_keys(opt), lost->why);
  return end;
}

/// How long a release may take. One that marks the work as done is tried as long as the lock is ours: without
/// the mark another host would do it again.
Patience release_patience(bool marks, const Keeper& keeper, const Signals& signals, std::size_t keys) {
  Patience patience = within(goodbye(keys));
  if (!marks) return patience;
  return {std::max(patience.until, keeper.lease().valid_until()), [&signals] { return signals.insisted(); }};
}

/// Releases all keys, and says what a person should know about it.
RunReport::Released release(const RunOptions& opt, Session& session, const LockSet& locks,
                            const PastHold& past, const CommandOutcome& ended, const Keeper& keeper) {
  const bool lost = keeper.lost();
  ReleaseOptions options;
  const bool keep = stays(opt, ended, lost);
  // By the server's clock, from the server's own time: never mixed with our clock.
  if (keep) options.keep_until = past.facts.since + opt.kept_for();
  const std::vector<Part> parts = locks.to_release(keep, ended.exit_code, past);
  const bool marks = keep && opt.once_per;
  const Patience patience = release_patience(marks, keeper, session.signals, parts.size());
  const std::vector<ReleaseResult> answers = release(session.redis, parts, options, patience);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string key = quoted(parts[i].lock->name());
    const ReleaseResult& answer = answers[i];
    if (answer.how == ReleaseResult::How::unknown)
      complain(fmt::format("release of {} not confirmed ({}); it frees itself within {}", key, answer.why,
                           describe(opt.lease)));
    else if (!answer.why.empty())
      mention(fmt::format("release of {} not confirmed by every server ({})", key, answer.why));
    if (answer.how == ReleaseResult::How::yes) mention("released " + key);
    if (answer.how == ReleaseResult::How::kept)
      mention(fmt::format("{} is kept by {}", key, marks ? "--once-per" : "--min-hold"));
    if (answer.how == ReleaseResult::How::not_ours && !lost)
      complain(fmt::format("lost {}: it was not ours any more at its release", key));
    if (!answer.unannounced.empty())
      complain(
          fmt::format("released {}, but could not tell its waiters: {}", key, sanitized(answer.unannounced)));
  }
  return released_of(answers);
}

void say_how_it_ended(const RunOptions& opt, const CommandOutcome& ended) {
  if (ended.not_started != 0)
    complain(fmt::format("cannot run {}: {}{}", in_quotes(opt.command.front()),
                         std::strerror(ended.not_started),
                         ended.not_started == ENOENT ? if_it_is_for_a_shell(opt.command) : ""));
  if (ended.too_late) complain(fmt::format("{} was granted too late to start the command", all_keys(opt)));
  if (ended.left_hidden)
    complain(fmt::format(
        "released {} while others of the command's process group may still run: /proc does not show them",
        all_keys(opt)));
  if (ended.left.empty()) return;
  std::vector<std::string> pids;
  for (const pid_t pid : ended.left) pids.push_back(std::to_string(pid));
  complain(fmt::format("released {} while {} still runs (--until group waits for it)", all_keys(opt),
                       joined(pids, ", ")));
}

/// Ends as the command did: our parent sees the same signal, and on a terminal the rest of our group gets the
/// same key.
int end_like(const CommandOutcome& ended, bool lost) {
  if (ended.interrupted) die_of(*ended.interrupted);  // a shell loop around us must see the signal
  if (ended.pressed) share_with_group(*ended.pressed);
  if (ended.signal && !lost && !ended.max_hold && !ended.stopped_by) die_of(*ended.signal);
  return exit_status(ended, lost);
}

}  // namespace

int run(const RunOptions& opt, StatusRecord& status) {
  RunReport report = report_of(opt);
  Session session{opt.deployment, opt.wait,
                  opt.quorum_all};  // from here on a signal only sets a flag that we check
  Executor& redis = session.redis;
  const Signals& signals = session.signals;
  mention(opt.budget.str());

  // Waiting. Whatever ends the wait, acquire() has undone what it took.
  WaitLines lines{redis,
                  signals,
                  {session.deployment, opt.started, opt.wait, opt.names, std::string{opt.type->busy_text}}};
  std::optional<LockSet> locks;
  if (opt.type->name == "permit")  // a pool of permits and a latch look alike
    refuse_latch(session, opt.names.front(), PoolKind::permits, opt.started, opt.wait);
  Watches watches;
  watch_for_deadlocks(opt, session, watches.deadlock);
  if (opt.once_per) watches.once.emplace(redis, opt.names.front(), session.deployment.timeouts.command);
  const Acquired got = take(opt, session, lines, watches, locks);
  if (const auto* gave_up = std::get_if<GaveUp>(&got))
    return end_without(opt, session, lines, watches, *gave_up, report, status);
  lines.acquired();
  watches.deadlock.reset();
  watches.once.reset();
  const Taken& taken = std::get<Taken>(got);
  const TimePoint started = Clock::now();  // for the record only: the lease counts from taken.asked
  say_who_voted(redis, taken.answers);
  const Milliseconds waited = between(opt.started, started);
  report_taken(report, redis, locks->owner(), taken, waited);

  // Holding. The command lives no longer than the lease that the keeper renews.
  Keeper keeper{redis,
                {.lease = {.asked = taken.asked, .budget = opt.budget},
                 .parts = {locks->parts().begin(), locks->parts().end()},
                 .sync_replicas = static_cast<int>(opt.sync_replicas),
                 .sync_timeout = opt.sync_timeout}};
  StopRequests requests{redis, locks->parts(), taken.asked};
  HoldOptions options = holding(opt, *locks, variables_of(opt, *locks, taken), taken.asked);
  options.give_back = [&](RlockEnd end) { give_back(opt, *locks, taken, waited, end); };
  std::optional<HeldCommand> hold{std::in_place, session.loop, session.signals,
                                  lock_of(opt, keeper, requests), std::move(options)};
  const CommandOutcome ended = hold->run();
  keeper.stop(within(kGoodbye));  // a renewal still in flight would find the lock gone and call it lost

  // Releasing.
  std::optional<Loss> lost = loss_of(keeper, requests);
  const PastHold past = locks->past(taken, waited, end_for_history(opt, ended, lost));
  report.released = release(opt, session, *locks, past, ended, keeper);
  if (report.released == RunReport::Released::no)
    learn_of_loss(redis, *locks, past.facts.since, ended.ran(), lost);
  say_how_it_ended(opt, ended);
  // A quorum may be reached before two nodes have told their run ids. We know only now whether they are one
  // server.
  if (const auto twice = redis.same_server_twice()) complain(twice->text);
  report_ended(report, ended, lost ? std::optional{lost->why} : std::nullopt, between(started, Clock::now()),
               exit_status(ended, lost.has_value()));
  status.write(report);
  hold.reset();  // waits for its guardian, which has ended while we released
  return end_like(ended, lost.has_value());
}

}  // namespace rlock
