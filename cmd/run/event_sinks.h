#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/names.h"
#include "cmd/cli/output.h"

namespace rlock {

/// One thing that has happened to a run.
struct Event {
  enum class Weight { info, notice, warning, error };  ///< how loud the system log is to be

  std::string_view name;  ///< "acquired"
  Weight weight;
  Milliseconds at;                                        ///< since the epoch
  const std::vector<LockName>& keys;                      ///< of the run
  std::vector<std::pair<std::string_view, Json>> fields;  ///< that this event has besides
};

/// --events: one JSON object a line (rlock-json(5)), to a file, a pipe or an open descriptor.
///
/// Each line is one write() that never waits, since a reader that is slow, full or gone must delay neither a
/// renewal nor the stop. A line that cannot be written is dropped; the next one that can says how many were.
class EventFile {
 public:
  /// `where`: a path, or the number of an open descriptor, which the command does not inherit unless it is 1 or 2.
  /// Throws Error{usage} or Error{system} when nothing can be written there.
  void open(const std::string& where);

  /// Nothing happens without open().
  void write(const Event& event) noexcept;

 private:
  Descriptor sink_;
  bool is_socket_ = false;
  std::int64_t dropped_ = 0;
  bool torn_ = false;  ///< the last line was written in part
};

/// --syslog: one datagram for each event, to the systemd journal (with each field as a field of its own) or to a syslog
/// daemon. Never waits, as EventFile. A daemon that is started again is found again.
class SystemLog {
 public:
  /// `socket`: that of a syslog daemon, or of a journal if its path ends in /journal/socket. kSystem: that of this
  /// system. If nothing listens there, the user is warned once, and each event tries again.
  void open(const std::string& socket);

  /// Nothing happens without open().
  void write(const Event& event) noexcept;

  static constexpr std::string_view kSystem = "/dev/log";

 private:
  int connect() noexcept;
  int send(const std::string& datagram) noexcept;
  std::string datagram(const Event& event) const;

  std::vector<std::string> paths_;  ///< the first that listens counts
  Descriptor socket_;
  bool journal_ = false;  ///< a journal listens there
  std::int64_t dropped_ = 0;
};

}  // namespace rlock
