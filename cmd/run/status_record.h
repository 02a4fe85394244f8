#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cmd/run/run_report.h"
#include "cmd/run/status_file.h"

namespace rlock {

/// The status record of a run: its RunReport as one line of JSON, where --status-fd and --status-file say.
/// It is written once: the first report counts.
class StatusRecord {
 public:
  /// Where it goes: descriptor, file, both or neither. Removes an old record, and keeps the descriptor from
  /// being inherited, unless it is the stdout or stderr of the command.
  /// Throws Error{system} when the file could not be written in the end; nothing is written then.
  void open(std::optional<std::int64_t> fd, const std::string& file);
  bool opened() const noexcept { return opened_; }

  /// Nothing happens where no record was asked for, or one has been written.
  /// What cannot be written is complained about, and the exit status stays.
  void write(const RunReport& report) noexcept;

  /// The first report is told to `listener`, too, whether or not a record was asked for.
  void tell_also(std::function<void(const RunReport&)> listener) { listener_ = std::move(listener); }

  /// Of the report that was written, or would have been; nothing: there was none yet.
  std::optional<RunReport::Outcome> outcome() const noexcept { return outcome_; }

 private:
  std::function<void(const RunReport&)> listener_;
  std::optional<std::int64_t> fd_;
  StatusFile file_;
  std::optional<RunReport::Outcome> outcome_;
  bool opened_ = false;
  bool wanted_ = false;
};

}  // namespace rlock
