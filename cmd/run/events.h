#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "cmd/run/event_sinks.h"
#include "cmd/run/run_report.h"
#include "sync/wait/acquire_options.h"

namespace rlock {

/// What happens to a run, while it goes on, told to --events and --syslog. Each transition is told once, in its order:
///
///     waiting*  acquired  (trouble recovered)*  [lost]  [stopping]  released | ended
///     waiting*  gave-up                           there is no lock
///     waiting*  gave-up  [stopping]  ended        --if-unreachable run
///
/// `trouble` and `recovered` also stand in the wait, and `recovered` ends every trouble that does not end in `lost`,
/// `gave-up` or the end of the run.
class Events {
 public:
  /// Opens the outputs of --events and --syslog. Throws as EventFile::open and SystemLog::open do.
  void open(const RunOptions& options);

  /// Did the user ask for events?
  bool wanted() const noexcept { return wanted_; }

  void waiting(const Waiting& seen);
  void acquired(const RunReport& report);
  void trouble(
      std::string_view why);  ///< a renewal has failed, and is tried again; empty: one has succeeded since
  void lost(std::string_view why);
  void stopping(std::string_view why);  ///< the command gets its first signal from us
  void runs_without_lock(const RunReport& report);
  void ended(const RunReport& report);

 private:
  void tell(std::string_view name, Event::Weight weight,
            std::vector<std::pair<std::string_view, Json>> fields) noexcept;

  EventFile file_;
  SystemLog log_;
  std::vector<LockName> keys_;
  bool wanted_ = false;
  bool troubled_ = false;
  bool acquired_ = false;
  bool gave_up_ = false;
  bool said_lost_ = false;
  std::string holder_;  ///< of the last `waiting`
  std::optional<std::int64_t> place_;
};

}  // namespace rlock
