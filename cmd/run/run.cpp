// rlock run from its parsed options to its exit status, in three steps: wait (run_wait.cpp), hold (run_hold.cpp) and
// release (run_release.cpp). Each file says why its own steps stand in their order.

#include "cmd/run/run.h"

#include <optional>

#include "base/log.h"
#include "cmd/run/run_context.h"
#include "cmd/run/run_hold.h"
#include "cmd/run/run_release.h"
#include "cmd/run/run_wait.h"

namespace rlock {

void listen(RunOptions& options, StatusRecord& status, Events& events) {
  events.open(options);
  if (!events.wanted()) return;
  options.hears_wait = [&events](const Waiting& seen) { events.waiting(seen); };
  status.tell_also([&events](const RunReport& report) { events.ended(report); });
}

int run(const RunOptions& opt, StatusRecord& status, Events& events) {
  RunContext run{opt, status, events};
  mention(opt.budget.str());
  const auto waited = wait_for_keys(run);
  if (const int* exit = std::get_if<int>(&waited)) return *exit;
  std::optional<RunHold> hold{std::in_place, run, std::get<HeldKeys>(waited)};
  const CommandOutcome ended = hold->run_command();
  const bool lost = release_keys(run, *hold, ended);
  hold.reset();  // waits for its guardian, which has ended while we released
  return end_like(opt, ended, lost);
}

}  // namespace rlock
