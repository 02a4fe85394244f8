#pragma once

#include <optional>

#include "cmd/hold/command/held_command.h"
#include "cmd/hold/keep/renewed_keys.h"
#include "cmd/hold/keys/held_keys.h"
#include "cmd/hold/report/hold_end.h"
#include "cmd/run/run_context.h"

namespace rlock {

/// The second step of a run: renews the keys while the command runs, and stops the command before they can
/// end. Its destructor waits for the guardian. REQUIRES: run and keys outlive it.
class RunHold {
 public:
  RunHold(RunContext& run, const HeldKeys& keys);

  /// Runs the command. Afterwards no renewal is under way, and the guardian guards the release.
  CommandOutcome run_command();
  void dismiss_guardian() noexcept { command_.dismiss_guardian(); }  ///< see HeldProcesses

  const HeldKeys& keys() const noexcept { return keys_; }
  const Keeper& keeper() const noexcept { return renewed_.keeper(); }

  /// Why the keys are not ours any more; empty: they are ours.
  std::optional<Loss> loss() { return renewed_.loss(); }

  /// How long the command has run. It is only for the record: the lease counts from Acquired::asked.
  Milliseconds lasted() const { return elapsed(started_, run_.session.now()); }

 private:
  CommandOptions options();

  RunContext& run_;
  const HeldKeys& keys_;
  const TimePoint started_ = run_.session.now();
  RenewedKeys renewed_;
  HeldCommand command_;
};

}  // namespace rlock
