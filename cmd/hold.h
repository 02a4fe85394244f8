#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/command_environment.h"
#include "loop/loop.h"
#include "sync/keeper.h"

namespace rlock {

/// What to run while a lock is held, and what ends it.
struct HoldOptions {
  std::vector<std::string> argv;
  Variables variables;  ///< what the environment of the command gains and loses
  int signal = 15;
  Milliseconds kill_after{5000};
  TimePoint max_hold = kNever;
  bool stop_on_loss = true;
  bool until_group = false;
};

/// How the command ended.
struct Ended {
  int exit_code = 0;          ///< what a shell would say
  std::optional<int> signal;  ///< which one killed it
  int not_started = 0;        ///< errno of exec; 0: it ran
  bool max_hold = false;      ///< --max-hold stopped it
};

/// Runs the command for as long as the keeper holds the lock.
Ended hold(Loop& loop, Keeper& keeper, const HoldOptions& options);

}  // namespace rlock
