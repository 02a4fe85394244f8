// RenewedKeys renews and listens, and HeldCommand runs the command and stops it in time. After every turn of the loop,
// HeldCommand asks whether the lock is lost, and until when the command may run.
//
// Each member uses those before it. So HeldCommand is destroyed first, and waits for its guardian. The renewals
// stop when the command has ended, before the release: a renewal under way would otherwise find no lock and
// call it lost.

#include "cmd/run/run_hold.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cmd/hold/guardian_release.h"
#include "cmd/hold/hold_environment.h"

namespace rlock {
namespace {

CommandOptions holding(const RunContext& run, const HeldKeys& keys) {
  // RLOCK_STACK ends with the run's own owner, and nested runs only add lines to it. Two runs that join the same outer
  // hold have the same RLOCK_STACK, so RLOCK_OWNER and RLOCK_PID mark their processes instead.
  std::vector<std::string_view> marks{"RLOCK_STACK"};
  if (keys.joins()) marks = {"RLOCK_OWNER", "RLOCK_PID"};
  CommandOptions options = with_or_without_lock(run, describe_hold(keys), marks);
  if (run.request.max_hold) options.max_hold = plus(keys.acquired().asked, *run.request.max_hold);
  return options;
}

}  // namespace

CommandOptions with_or_without_lock(const RunContext& run, Variables variables,
                                    const std::vector<std::string_view>& marks) {
  CommandOptions options;
  for (const auto& [name, value] : variables)
    if (std::ranges::find(marks, name) != marks.end())
      options.marks.push_back(name + "=" + value.value_or(""));
  std::ranges::copy(run.request.deployment.environment, std::back_inserter(variables));
  if (run.request.scrub_password) std::ranges::copy(without_passwords(), std::back_inserter(variables));
  options.command = {.argv = run.request.command,
                     .variables = std::move(variables),
                     .found = run.found,
                     .or_script = run.request.or_script};
  options.rules = run.request.stop;
  options.until_group = run.request.until_group;
  return options;
}

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
    release_in_guardian(keys_, {.whom = "rlock"}, alone, run_.session.loop.now());
  };
  run_.events.listen_to(options);
  return options;
}

}  // namespace rlock
