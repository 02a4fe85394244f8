#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/names.h"
#include "cmd/cli/output.h"
#include "cmd/run/run_report.h"
#include "sync/wait/acquire_options.h"

namespace rlock {

/// --events: what happens to a run, while it goes on, one JSON object a line (rlock-json(5)).
///
/// Each line is one write() that never waits, since a reader that is slow, full or gone must delay neither a
/// renewal nor the stop. A line that cannot be written is dropped; the next one that can says how many were.
class Events {
 public:
  /// Without open() nothing is written. `where`: a path, or the number of an open descriptor, which the command
  /// does not inherit unless it is 1 or 2. Throws Error{usage} or Error{system} when nothing can be written there.
  void open(const std::string& where, std::vector<LockName> keys);

  void waiting(const Waiting& seen);
  void acquired(const RunReport& report);
  void trouble(
      std::string_view why);  ///< a renewal has failed, and is tried again; empty: one has succeeded since
  void lost(std::string_view why);
  void stopping(std::string_view why);  ///< the command gets its first signal from us
  void ended(const RunReport& report);

 private:
  using Fields = std::vector<std::pair<std::string_view, Json>>;
  void write(std::string_view event, Fields more) noexcept;

  Descriptor sink_;
  bool is_socket_ = false;
  std::vector<LockName> keys_;
  std::int64_t dropped_ = 0;
  bool torn_ = false;  ///< the last line was written in part
  bool troubled_ = false;
  bool said_lost_ = false;
  std::string holder_;  ///< of the last `waiting`
  std::optional<std::int64_t> place_;
};

}  // namespace rlock
