// RenewedKeys renews and listens, and HeldCommand runs the command and stops it in time. After every turn of the loop,
// HeldCommand asks whether the lock is lost, and until when the command may run.
//
// Each member uses those before it. So HeldCommand is destroyed first, and waits for its guardian. The renewals
// stop when the command has ended, before the release: a renewal under way would otherwise find no lock and
// call it lost.

#include "cmd/run/run_hold.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/hold/keep/guardian_release.h"
#include "cmd/hold/report/hold_environment.h"
#include "cmd/run/run_command.h"

namespace rlock {
namespace {

CommandOptions holding(const RunContext& run, const HeldKeys& keys) {
  // RLOCK_STACK ends with the run's own owner, and nested runs only add lines to it. Two runs that join the same outer
  // hold have the same RLOCK_STACK, so RLOCK_OWNER and RLOCK_PID mark their processes instead.
  std::vector<std::string_view> marks{"RLOCK_STACK"};
  if (keys.joins()) marks = {"RLOCK_OWNER", "RLOCK_PID"};
  CommandOptions options = command_options(run, describe_hold(keys), marks);
  if (run.request.max_hold) options.max_hold = plus(keys.acquired().asked, *run.request.max_hold);
  return options;
}

}  // namespace

RunHold::RunHold(RunContext& run, const HeldKeys& keys)
    : run_(run),
      keys_(keys),
      renewed_(
          run.session.redis, keys, plus(keys.acquired().asked, kListensAfter),
          [&run](const std::string& problem) { run.events.trouble(problem); }, keys.acquired().mailbox),
      command_(run.session.loop, run.session.signals, renewed_.lock(), options()) {}

CommandOutcome RunHold::run_command() {
  CommandOutcome ended = command_.run();
  renewed_.stop(run_.session.loop.within(kCleanupTime));
  return ended;
}

CommandOptions RunHold::options() {
  CommandOptions options = holding(run_, keys_);
  options.release_by_guardian = [this](const LeftAlone& alone) {
    release_in_guardian(keys_, {.whom = "rlock"}, alone, run_.session.now());
  };
  run_.events.listen_to(options);
  return options;
}

}  // namespace rlock
