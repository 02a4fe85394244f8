// HoldWait does the waiting; this file handles its end. --if-unreachable comes first and applies only if no
// server could be used. HoldWait::report_not_held() gives text and status for every other reason.
//
// The record is written last, when the exit status is known, and before a signal ends us.

#include "cmd/run/run_wait.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/as_given.h"
#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/hold/request/holder_facts.h"
#include "cmd/hold/wait/hold_wait.h"
#include "cmd/run/run_context.h"
#include "cmd/run/run_without_lock.h"

namespace rlock {
namespace {

/// Prints the answer of each node, if there are several.
void say_who_voted(const Redis& redis, const std::vector<Answer>& answers) {
  if (redis.nodes() == 1 || answers.empty()) return;
  std::map<Answer, std::vector<std::string>> names;
  for (std::size_t node = 0; node < answers.size(); ++node) names[answers[node]].push_back(redis.str(node));
  std::vector<std::string> groups;
  for (const auto& [word, who] : names)
    groups.push_back(fmt::format("{} {}", text_of(word), joined(who, ", ")));
  debug(fmt::format("{} of {} servers granted it: {}", names[Answer::granted].size(), redis.nodes(),
                    joined(groups, "; ")));
}

/// What rlock does if it does not get the lock.
struct Instead {
  IfUnreachable choice = IfUnreachable::fail;
  /// The end of the message: what rlock does instead. If the choice is `fail`: why --if-unreachable changes nothing. It
  /// may be empty.
  std::string then{};
};

/// The command does not run without a lock if a server has answered "busy". Nor does it if one of our keys exists on a
/// server that still answers.
Instead instead_of_lock(RunContext& run, HoldWait& wait, const GaveUp& gave_up) {
  const IfUnreachable choice = run.request.if_unreachable;
  if (choice == IfUnreachable::fail || !wait.unreachable(gave_up)) return {};
  const std::string given = as_given(
      "if-unreachable", choice == IfUnreachable::skip ? "--if-unreachable skip" : "--if-unreachable run");
  if (gave_up.failure && gave_up.failure->needs_a_person())
    return {.then = fmt::format("; waiting does not mend this, so rlock does not obey {}", given)};
  if (choice == IfUnreachable::skip) return {choice, fmt::format("; the command does not run ({})", given)};
  constexpr std::string_view kNeverBeside = ", so the command does not run without a lock";
  if (wait.seen_busy()) return {.then = fmt::format("; the lock was busy during the wait{}", kNeverBeside)};
  const bool is_pool = run.request.type->is_pool();
  if (const auto key = existing_key(run.session, run.request))
    return {.then = fmt::format("; {} exists there{}{}", quoted(*key),
                                is_pool ? ", and its permits may be taken" : "", kNeverBeside)};
  return {choice, fmt::format("; the command runs without a lock ({})", given)};
}

/// There is no lock: prints why, writes the record, and returns the exit status. Empty: the command must run
/// without a lock.
std::optional<int> end_without(RunContext& run, HoldWait& wait, const GaveUp& gave_up) {
  HoldReport& report = run.report;
  say_who_voted(run.session.redis, gave_up.answers);
  report.waited = elapsed(run.request.started, run.session.now());
  const Instead instead = instead_of_lock(run, wait, gave_up);
  if (instead.choice != IfUnreachable::fail) {
    report_gave_up(report, run.session.redis, gave_up, exit_code::ok);
    const std::string text = wait.describe(gave_up, instead.then);
    if (instead.choice == IfUnreachable::run) {
      warn(text);
      return std::nullopt;
    }
    info(text);
    run.status.write(report);
    return exit_code::ok;
  }
  const NotHeld not_held = wait.report_not_held(gave_up, instead.then);
  report_gave_up(report, run.session.redis, gave_up, not_held);
  run.status.write(report);
  if (not_held.signal) throw EndedBySignal{*not_held.signal};
  return not_held.exit;
}

}  // namespace

std::variant<HeldKeys, RunWithoutLock, RunIsOver> wait_for_keys(RunContext& run) {
  // If the wait ends without the keys, acquire() has undone what it was granted.
  HoldWait wait{run.session, run.request, about_run(run.request, run.request.command, run.request.show_args),
                run.events.observer()};
  auto got = wait.run();
  if (const auto* gave_up = std::get_if<GaveUp>(&got)) {
    if (const auto exit = end_without(run, wait, *gave_up)) return RunIsOver{*exit};
    return RunWithoutLock{};
  }
  auto& keys = std::get<HeldKeys>(got);
  say_who_voted(run.session.redis, keys.acquired().answers);
  report_acquired(run.report, run.session.redis, keys.owner(), keys.acquired(), keys.waited());
  run.events.acquired(run.report);
  return std::move(keys);
}

}  // namespace rlock
