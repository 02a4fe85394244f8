// rlock run from its parsed options to its exit status. run() at the end of this file is where to begin: wait
// (HoldWait), hold (a Keeper renews, a HeldCommand runs), release, say what happened, end as the command did.
// The functions before it are its steps.
//
// The order of the last steps is what keeps the promises. The Keeper stops before the release, so that no
// renewal finds the lock gone and calls it lost. The release comes before anything is said or written, so
// that the next holder does not wait for our terminal or a full disk. And the process ends last by the
// command's own signal, when nothing is left to do.

#include "cmd/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ask/latch_guard.h"
#include "cmd/cli/exit_code.h"
#include "cmd/run/command_environment.h"
#include "cmd/run/command_lookup.h"
#include "cmd/run/command_name.h"
#include "cmd/run/guardian_release.h"
#include "cmd/run/held_command.h"
#include "cmd/run/held_keys.h"
#include "cmd/run/hold_end.h"
#include "cmd/run/hold_wait.h"
#include "cmd/run/inherited_hold.h"
#include "cmd/run/run_report.h"
#include "cmd/run/stop_requests.h"
#include "cmd/run/without_lock.h"
#include "cmd/server/session.h"
#include "sync/hold/keeper.h"
#include "sync/hold/release.h"

namespace rlock {
namespace {

Metadata facts_about(const RunOptions& opt) {
  Metadata facts = about_us(command_name(opt.command));
  if (opt.show_args) facts.command = command_line(opt.command);
  if (!opt.reason.empty()) facts.reason = opt.reason;
  facts.labels = opt.labels;
  facts.renews = opt.renew;
  facts.kill_after = opt.kill_after;
  return facts;
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

/// A pool of permits and a latch look alike: a latch is refused before anything is taken from it.
Acquired wait_for_all(Session& session, const RunOptions& opt, HoldWait& wait) {
  if (opt.type->name == "permit")
    if (const auto failure =
            refuse_latch(session, opt.names.front(), PoolKind::permits, opt.started, opt.wait))
      return GaveUp{.why = GaveUp::Why::unreachable, .failure = failure};
  return wait.run();
}

/// What follows a wait that did not get the lock, and the text that says so. Nothing: the lock was not
/// unreachable but busy or refused, or --if-unreachable says no more than the exit status does.
struct Instead {
  IfUnreachable choice = IfUnreachable::fail;
  std::string text{};
};

/// The command never runs without a lock beside a holder that a server has told us of, or could tell us of.
Instead instead_of_lock(const RunOptions& opt, Session& session, HoldWait& wait, const GaveUp& gave_up) {
  const IfUnreachable choice = opt.if_unreachable;
  if (choice == IfUnreachable::fail || !wait.unreachable(gave_up)) return {};
  if (choice == IfUnreachable::skip)
    return {choice, wait.describe(gave_up, "; the command does not run (--if-unreachable skip)")};
  if (wait.heard_busy()) return {};
  if (const auto key = existing_key(session, opt))
    return {
        IfUnreachable::fail,
        wait.describe(gave_up, fmt::format("; {} exists there, so the command does not run without a lock",
                                           quoted(*key)))};
  return {choice, wait.describe(gave_up, "; the command runs without a lock (--if-unreachable run)")};
}

/// There is no lock: says why, writes the record, and answers the exit status. Nothing: the command is to run
/// without a lock.
std::optional<int> end_without(const RunOptions& opt, Session& session, HoldWait& wait, const GaveUp& gave_up,
                               RunReport& report, StatusRecord& status) {
  say_who_voted(session.redis, gave_up.answers);
  report.waited = elapsed(opt.started, Clock::now());
  const Instead instead = instead_of_lock(opt, session, wait, gave_up);
  if (!instead.text.empty()) {
    const int exit = instead.choice == IfUnreachable::fail ? exit_code::unreachable : exit_code::ok;
    report_gave_up(report, session.redis, gave_up, exit);
    if (instead.choice == IfUnreachable::skip) {
      tell(instead.text);
    } else {
      complain(instead.text);
    }
    if (instead.choice == IfUnreachable::run) return std::nullopt;
    status.write(report);
    return exit;
  }
  const NotHeld not_held = wait.give_up(gave_up);
  report_gave_up(report, session.redis, gave_up, not_held.exit);
  if (not_held.why == NotHeld::Why::deadlock) report.outcome = RunReport::Outcome::deadlock;
  if (not_held.why == NotHeld::Why::done) report.outcome = RunReport::Outcome::done;
  if (not_held.why == NotHeld::Why::queue_full) report.outcome = RunReport::Outcome::busy;
  status.write(report);
  if (not_held.signal) die_of(*not_held.signal);
  return not_held.exit;
}

HoldFacts facts_of(const RunOptions& opt, const HeldKeys& keys) {
  const std::vector<Held>& held = keys.taken().held;
  std::vector<std::int64_t> fences;
  for (const Held& one : held)
    if (one.fence) fences.push_back(*one.fence);
  std::vector<InheritedHold> stack = holds_above_us();  // all of them: a run inside ours may enter any
  std::ranges::copy(keys.holds(), std::back_inserter(stack));
  return {.keys = opt.names,
          .type = std::string{opt.type->name},
          .owner = keys.owner(),
          .fences = std::move(fences),
          .lease = opt.lease,
          .acquired_at = held.front().server_time,
          .waited = keys.waited(),
          .slots = held.front().slots,
          .stack = write_holds(stack)};
}

/// With what every command is told, whether it runs under a lock or not.
Variables for_command(const RunOptions& opt, Variables variables) {
  std::ranges::copy(opt.deployment.environment, std::back_inserter(variables));
  if (opt.scrub_password) std::ranges::copy(without_passwords(), std::back_inserter(variables));
  return variables;
}

Variables variables_of(const RunOptions& opt, const HeldKeys& keys) {
  return for_command(opt, describe_hold(facts_of(opt, keys)));
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

HoldOptions holding(const RunOptions& opt, const HeldKeys& keys) {
  HoldOptions options;
  options.command = {.argv = opt.command, .variables = variables_of(opt, keys), .found = opt.found};
  options.marks = marks_of(options.command.variables, keys.joins());
  options.signal = opt.signal;
  options.kill_after = opt.kill_after;
  if (opt.max_hold) options.max_hold = plus(keys.taken().asked, *opt.max_hold);
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
void give_back(const RunOptions& opt, const HeldKeys& keys, RlockEnd end) {
  const PastHold past = keys.past(end_by_guardian(end));
  ReleaseOptions options;
  const bool keep = opt.min_hold > Milliseconds{0};
  if (keep) options.keep_until = past.facts.since + opt.min_hold;
  release_in_guardian(opt.deployment, opt.wait, opt.quorum_all,
                      keep ? keys.ending_kept(128 + SIGKILL, past) : keys.ending(keys.parts(), past),
                      options);
}

/// Why it is not ours any more; nothing while it is.
std::optional<Loss> loss_of(const Keeper& keeper, StopRequests& requests) {
  if (!keeper.lost()) return std::nullopt;
  if (keeper.taken_away() && requests.removed()) return Loss::removed_by(*requests.removed());
  return Loss{keeper.why()};
}

HeldLock lock_of(const RunOptions& opt, Keeper& keeper, StopRequests& requests) {
  return {.name = opt.all_keys(),
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
void look_who_removed_it(Redis& redis, const HeldKeys& keys, Milliseconds since, Loss& lost) {
  const TimePoint until = plus(Clock::now(), kGoodbye);  // however many keys there are
  for (const Part& part : keys.parts()) {
    if (Clock::now() >= until) return;
    const auto remover = removed_by(redis, *part.lock, since);
    if (!remover) continue;
    lost = Loss::removed_by(*remover);
    return complain(fmt::format("{} was {}", quoted(part.lock->name()), lost.why));
  }
}

/// The release found nothing of ours: it was lost, though nobody may have told the keeper.
void learn_of_loss(Redis& redis, const HeldKeys& keys, Milliseconds since, bool ran,
                   std::optional<Loss>& lost) {
  if (!lost && ran) lost = Loss{"it was not ours any more at its release"};
  if (lost && !lost->by) look_who_removed_it(redis, keys, since, *lost);
}

/// Of several keys, the end of the one that was removed is written by whoever removed it: this one is for the
/// others.
HoldEnd end_for_history(const RunOptions& opt, const CommandOutcome& ended, const std::optional<Loss>& lost) {
  HoldEnd end = end_of(ended, lost);
  if (!lost || !lost->by || opt.names.size() == 1) return end;
  end.outcome = "lost";
  end.why = fmt::format("one of {} was {}", opt.all_keys(), lost->why);
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
RunReport::Released release(const RunOptions& opt, Session& session, const HeldKeys& keys,
                            const PastHold& past, const CommandOutcome& ended, const Keeper& keeper) {
  const bool lost = keeper.lost();
  ReleaseOptions options;
  const bool keep = stays(opt, ended, lost);
  // By the server's clock, from the server's own time: never mixed with our clock.
  if (keep) options.keep_until = past.facts.since + opt.kept_for();
  const std::vector<Part> parts =
      keep ? keys.ending_kept(ended.exit_code, past) : keys.ending(keys.parts(), past);
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

void say_why_it_did_not_start(const RunOptions& opt, const CommandOutcome& ended) {
  if (ended.not_started == 0) return;
  complain(fmt::format("cannot run {}: {}{}", in_quotes(opt.command.front()),
                       std::strerror(ended.not_started),
                       ended.not_started == ENOENT ? if_it_is_for_a_shell(opt.command) : ""));
}

void say_how_it_ended(const RunOptions& opt, const CommandOutcome& ended) {
  say_why_it_did_not_start(opt, ended);
  if (ended.too_late) complain(fmt::format("{} was granted too late to start the command", opt.all_keys()));
  if (ended.left_hidden)
    complain(fmt::format(
        "released {} while others of the command's process group may still run: /proc does not show them",
        opt.all_keys()));
  if (ended.left.empty()) return;
  std::vector<std::string> pids;
  for (const pid_t pid : ended.left) pids.push_back(std::to_string(pid));
  complain(fmt::format("released {} while {} still runs (--until group waits for it)", opt.all_keys(),
                       joined(pids, ", ")));
}

/// Ends as the command did: our parent sees the same signal, and on a terminal the rest of our group gets the
/// same key.
int end_like(const RunOptions& opt, const CommandOutcome& ended, bool lost) {
  if (ended.interrupted) die_of(*ended.interrupted);  // a shell loop around us must see the signal
  if (ended.pressed) share_with_group(*ended.pressed);
  if (opt.die_of_its_signal && ended.signal && !lost && !ended.max_hold && !ended.stopped_by)
    die_of(*ended.signal);
  return exit_status(ended, lost);
}

/// --if-unreachable run. `report` says why there is no lock.
int run_beside_no_server(const RunOptions& opt, Session& session, RunReport report, StatusRecord& status,
                         Events& events) {
  const TimePoint started = Clock::now();
  const auto why = report.error;
  events.runs_without_lock(report);
  const CommandOutcome ended =
      run_without_lock(session, opt, for_command(opt, describe_no_hold()),
                       [&events](const std::string& what) { events.stopping(what); });
  say_why_it_did_not_start(opt, ended);
  report_ended(report, ended, std::nullopt, elapsed(started, Clock::now()), exit_status(ended, false));
  report.held.reset();
  if (!report.error) report.error = why;
  status.write(report);
  return end_like(opt, ended, false);
}

}  // namespace

void listen(RunOptions& options, StatusRecord& status, Events& events) {
  events.open(options);
  if (!events.wanted()) return;
  options.hears_wait = [&events](const Waiting& seen) { events.waiting(seen); };
  status.tell_also([&events](const RunReport& report) { events.ended(report); });
}

int run(const RunOptions& opt, StatusRecord& status, Events& events) {
  RunReport report = report_of(opt);
  Session session{opt.deployment, opt.wait,
                  opt.quorum_all};  // from here on a signal only sets a flag that we check
  Executor& redis = session.redis;
  mention(opt.budget.str());

  // Waiting. Whatever ends the wait, acquire() has undone what it took.
  std::optional<HoldWait> wait{std::in_place, session, opt, facts_about(opt)};
  const Acquired got = wait_for_all(session, opt, *wait);
  if (const auto* gave_up = std::get_if<GaveUp>(&got)) {
    if (const auto exit = end_without(opt, session, *wait, *gave_up, report, status)) return *exit;
    wait.reset();  // nothing is asked any more, and nothing said about the wait
    return run_beside_no_server(opt, session, report, status, events);
  }
  const HeldKeys& keys = wait->keys();
  const Taken& taken = keys.taken();
  const TimePoint started = Clock::now();  // for the record only: the lease counts from taken.asked
  say_who_voted(redis, taken.answers);
  report_taken(report, redis, keys.owner(), taken, keys.waited());
  events.acquired(report);

  // Holding. The command lives no longer than the lease that the keeper renews.
  Keeper::Options renewing = keys.renewing();
  renewing.tell = [&events](const std::string& obstacle) { events.trouble(obstacle); };
  Keeper keeper{redis, std::move(renewing)};
  StopRequests requests{redis, keys.parts(), taken.asked};
  HoldOptions options = holding(opt, keys);
  options.give_back = [&](RlockEnd end) { give_back(opt, keys, end); };
  options.tell_lost = [&events](const std::string& why) { events.lost(why); };
  options.tell_stopping = [&events](const std::string& why) { events.stopping(why); };
  std::optional<HeldCommand> hold{std::in_place, session.loop, session.signals,
                                  lock_of(opt, keeper, requests), std::move(options)};
  const CommandOutcome ended = hold->run();
  keeper.stop(within(kGoodbye));  // a renewal still in flight would find the lock gone and call it lost

  // Releasing.
  std::optional<Loss> lost = loss_of(keeper, requests);
  const PastHold past = keys.past(end_for_history(opt, ended, lost));
  report.released = release(opt, session, keys, past, ended, keeper);
  if (report.released == RunReport::Released::no)
    learn_of_loss(redis, keys, past.facts.since, ended.ran(), lost);
  say_how_it_ended(opt, ended);
  // A quorum may be reached before two nodes have told their run ids. We know only now whether they are one
  // server.
  if (const auto twice = redis.same_server_twice()) complain(twice->text);
  report_ended(report, ended, lost ? std::optional{lost->why} : std::nullopt, elapsed(started, Clock::now()),
               exit_status(ended, lost.has_value()));
  status.write(report);
  hold.reset();  // waits for its guardian, which has ended while we released
  return end_like(opt, ended, lost.has_value());
}

}  // namespace rlock
