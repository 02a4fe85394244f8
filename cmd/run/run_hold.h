#pragma once

#include <optional>

#include "cmd/run/held_command.h"
#include "cmd/run/held_keys.h"
#include "cmd/run/hold_end.h"
#include "cmd/run/run_context.h"
#include "cmd/run/stop_requests.h"
#include "sync/hold/keeper.h"

namespace rlock {

/// The second step of a run: its keys while the command runs. They are renewed, and the command lives no longer
/// than they are surely ours. REQUIRES: run and keys outlive it.
class RunHold {
 public:
  RunHold(RunContext& run, const HeldKeys& keys);
  ~RunHold();  ///< waits for the guardian

  /// Runs the command. No renewal is under way afterwards.
  CommandOutcome run_command();

  const HeldKeys& keys() const noexcept { return keys_; }
  const Keeper& keeper() const noexcept { return keeper_; }

  /// Why the keys are not ours any more; nothing while they are.
  std::optional<Loss> loss();

  /// How long the command has been there; for the record only, the lease counts from Taken::asked.
  Milliseconds lasted() const { return elapsed(started_, run_.session.loop.now()); }

 private:
  HeldLock lock();
  HoldOptions options();

  RunContext& run_;
  const HeldKeys& keys_;
  const TimePoint started_ = run_.session.loop.now();
  Keeper keeper_;
  StopRequests requests_;
  HeldCommand command_;
};

/// Adds the variables that every command gets, with or without a lock.
Variables for_command(const RunOptions& opt, Variables variables);

}  // namespace rlock
