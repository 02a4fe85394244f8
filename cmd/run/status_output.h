#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cmd/hold/report/hold_report.h"
#include "cmd/run/status_file.h"

namespace rlock {

/// The status record of a run: its HoldReport as one line of JSON, for --status-fd and --status-file. It is
/// written once: the first report counts.
class StatusOutput {
 public:
  /// Sets the outputs: descriptor, file, both or none. Removes an old record. The command does not inherit the
  /// descriptor unless it is a standard one. Throws Error{system} if the file could not be written later; then write()
  /// writes nothing.
  void open(std::optional<std::int64_t> fd, const std::string& file);
  bool opened() const noexcept { return opened_; }

  /// Passes the report to the listener, see report_also_to(). Then writes the record, if one was asked for and none was
  /// written. If the record cannot be written, prints the error; the exit status stays.
  void write(const HoldReport& report) noexcept;

  /// Passes the first report to `listener` too, even if no record was asked for.
  void report_also_to(std::function<void(const HoldReport&)> listener) { listener_ = std::move(listener); }

 private:
  std::function<void(const HoldReport&)> listener_;
  std::optional<std::int64_t> fd_;
  StatusFile file_;
  bool opened_ = false;
  bool wanted_ = false;
};

}  // namespace rlock
