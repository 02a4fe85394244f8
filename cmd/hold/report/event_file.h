#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/names.h"
#include "cmd/cli/json.h"

namespace rlock {

/// One event of a run.
struct Event {
  enum class Weight { info, notice, warning, error };  ///< its severity in the system log

  std::string_view name;  ///< such as "acquired"
  Weight weight;
  Milliseconds at;                    ///< since the epoch
  pid_t pid;                          ///< the process that holds: rlock, or a script
  const std::vector<LockName>& keys;  ///< the keys of the run
  Json::Fields fields;                ///< further fields of this event
};

/// --events: one JSON object a line (rlock-json(5)), to a file, a pipe or an open descriptor.
///
/// Each line is one write() or send() that does not wait for the reader. So a slow, stopped or missing reader delays
/// neither a renewal nor the stop of the command. A line that cannot be written is dropped. The next line that can be
/// written has the number of dropped lines.
class EventFile {
 public:
  /// `where`: a path, or the number of an open descriptor. The command does not inherit the descriptor unless it is a
  /// standard one. Throws Error{usage} or Error{system} if we cannot write to `where`.
  void open(const std::string& where);

  /// Does nothing without open().
  void write(const Event& event) noexcept;

  int descriptor() const noexcept { return sink_.number(); }  ///< -1: none is open

 private:
  Descriptor sink_;
  std::string unread_;  ///< a named pipe that had no reader at the start: later lines try to open it
  bool is_socket_ = false;
  std::int64_t dropped_ = 0;
  bool torn_ = false;    ///< the last line was written only in part
  bool warned_ = false;  ///< about a file that cannot be written
};

}  // namespace rlock
