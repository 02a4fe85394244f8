// rlock run from its parsed options to its exit status, in three steps: wait (run_wait.cpp), hold
// (run_hold.cpp) and release (run_release.cpp). Each file says why its own steps stand in their order. A command that
// does not exist is noticed before them, so that nothing is locked for it.

#include "cmd/run/run.h"

#include <utility>
#include <variant>

#include "base/log.h"
#include "cmd/run/command_lookup.h"
#include "cmd/run/run_command.h"
#include "cmd/run/run_context.h"
#include "cmd/run/run_hold.h"
#include "cmd/run/run_release.h"
#include "cmd/run/run_wait.h"
#include "cmd/run/run_without_lock.h"

namespace rlock {

namespace {

int end_without_command(const RunRequest& request, HoldReport& report, StatusOutput& status,
                        const CannotRun& why) {
  warn(why.text);
  report.outcome = HoldOutcome::not_started;
  report.exit = request.not_executed.value_or(why.exit_code);
  report.error = why.text;
  status.write(report);
  return report.exit;
}

/// Runs the command and releases the keys. Then it waits for the guardian, which was dismissed after the release.
std::pair<CommandOutcome, Lost> run_under(RunContext& run, const HeldKeys& keys) {
  RunHold hold{run, keys};
  CommandOutcome ended = hold.run_command();
  const Lost lost = release_keys(run, hold, ended);
  return {std::move(ended), lost};
}

}  // namespace

int run(const RunRequest& request, HoldReport& report, StatusOutput& status, Events& events) {
  events.open(request);
  // The first status.write(), here or in a step, also writes the last event. If a step throws, then Verb::failed()
  // writes it.
  if (events.wanted()) status.report_also_to([&events](const HoldReport& written) { events.ended(written); });
  auto [found, problem] = look_up(request.command);
  if (problem) return end_without_command(request, report, status, *problem);
  // The context opens the session: from here on, a signal only sets a flag.
  RunContext run{request, std::move(found), report, status, events};
  if (verbosity() == Verbosity::verbose) debug(request.budget.str());  // else the text would only cost time
  const auto got = wait_for_keys(run);
  if (const auto* over = std::get_if<RunIsOver>(&got)) return over->exit;
  if (std::holds_alternative<RunWithoutLock>(got)) return run_without_lock(run);
  const auto [ended, lost] = run_under(run, std::get<HeldKeys>(got));
  return end_like(request, ended, lost);
}

}  // namespace rlock
