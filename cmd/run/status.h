#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/names.h"
#include "base/time.h"

namespace rlock {

/// How a run ended, in one line of JSON that no exit status can be confused with.
struct RunReport {
  enum class Outcome { ran, busy, unreachable, lost, max_hold, not_started, interrupted, error };
  enum class Released { yes, no, kept, unknown };

  /// One server of a quorum.
  struct Node {
    std::string url;  ///< without secrets
    bool granted = false;
    std::string_view said{};  ///< granted, busy, refused, failed or late
  };

  Outcome outcome = Outcome::error;
  int exit = 0;                       ///< of rlock
  std::optional<int> command_exit;    ///< the command ended by itself with this status
  std::optional<int> command_signal;  ///< the command was ended by this signal
  std::vector<LockName> keys;
  std::string type;
  std::optional<Owner> owner;
  std::optional<std::int64_t> fence;
  std::optional<std::vector<std::int64_t>> slots;
  std::optional<Milliseconds> waited, held;
  std::optional<Released> released;
  std::optional<std::vector<Node>> nodes;
  std::optional<std::string> error;  ///< for a person

  std::string json() const;
};

/// Where reports go: descriptor, file, both or neither. Removes an old report, and keeps the descriptor from
/// being inherited, unless it is the stdout or stderr of the command.
/// `report`: what is known already; a failure that reaches main is added to it.
/// Throws Error{system} when the file could not be written in the end.
void open_status(std::optional<std::int64_t> fd, const std::string& file, const RunReport& report);

/// What has become known since: a failure that reaches main is added to this.
void foresee_status(const RunReport& report);

/// Writes the report. The first one counts: nothing is written after it.
/// What cannot be written is complained about, and the exit status stands.
void write_status(const RunReport& report) noexcept;

/// For main: a failure is how the run ended. Nothing happens
/// unless a status was asked for and none was written.
void write_failed_status(Error::Kind kind, const std::string& text) noexcept;

}  // namespace rlock
