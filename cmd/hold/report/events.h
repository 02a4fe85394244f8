#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "cmd/ask/wait_lines.h"
#include "cmd/hold/report/event_file.h"
#include "cmd/hold/report/hold_report.h"
#include "cmd/hold/report/system_log.h"
#include "sync/records/history.h"

namespace rlock {

/// Reports the events of a run, or of the hold of a script, to --events and --syslog. Usually they come in this order:
///
///     waiting*  acquired  (trouble recovered)*  [lost]  [stopping]  released | ended
///     waiting*  gave-up                           there is no lock
///     waiting*  gave-up  [stopping]  ended        --if-unreachable run
///
/// `trouble` and `recovered` may also come during the wait, or after `stopping`. If the lock is lost while the command
/// is being stopped, `lost` comes after `stopping`. Every trouble ends with `recovered`, `lost`, `gave-up` or the end
/// of the run.
class Events final : public WaitObserver {
 public:
  /// Opens the outputs of --events and --syslog. Throws like EventFile::open.
  void open(const HoldRequest& request);

  /// Did the user ask for events?
  bool wanted() const noexcept { return wanted_; }
  WaitObserver* observer() noexcept { return wanted_ ? this : nullptr; }  ///< for HoldWait

  void waiting(const Waiting& seen) override;
  void acquired(const HoldReport& report);
  /// A renewal, or a call of the wait, has failed and is retried. Empty: one has succeeded again.
  void trouble(std::string_view why) override;
  void lost(std::string_view why);
  void stopping(std::string_view why);  ///< the first signal to stop the command or script was sent
  void runs_without_lock(const HoldReport& report);
  void ended(const HoldReport& report);

  /// The end of the hold of a script. `released`: what came of the release; empty: the keys are left to their lease.
  void ended(HoldOutcome outcome, Milliseconds held, std::optional<HoldReport::KeysEnd> released);

  /// Reports from a guardian that rlock was killed, and that a release was sent. A guardian has no descriptor of
  /// rlock's, so it opens the outputs again. It cannot open a descriptor that the user named. Throws like open().
  static void killed(const HoldRequest& request, const PastHold& past);

  /// Sets the functions of `options` that report a loss and the stop of processes.
  void listen_to(StopOptions& options);

  /// The open descriptors, for the keeper of a script. The keeper inherits them and goes on with the report, so its
  /// events follow ours. We report nothing after the keeper has begun.
  std::vector<int> descriptors() const;

 private:
  void open_outputs(const std::string& file, const std::string& socket);
  void end(std::string_view name, HoldOutcome outcome, std::optional<int> exit,
           std::optional<Milliseconds> held);
  void write(std::string_view name, Event::Weight weight, Json::Fields fields) noexcept;

  EventFile file_;
  SystemLog log_;
  std::vector<LockName> keys_;
  pid_t pid_ = 0;
  bool wanted_ = false;
  bool troubled_ = false;
  bool acquired_ = false;
  bool gave_up_ = false;
  bool said_lost_ = false;
  std::string holder_;  ///< the holder in the last `waiting`
  std::optional<std::int64_t> place_;
};

}  // namespace rlock
