#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rlock {

/// Variables to set, or (without a value) to unset.
using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// The environment of a command: ours, with some variables set or unset.
///
/// LISTEN_PID and WATCHDOG_PID (systemd's word for "this
/// is meant for you") that name us will name the command.
/// Ours must not change while it lives: what is not changed is not copied.
class Environment {
 public:
  explicit Environment(const Variables& changes);

  /// As exec takes it.
  char** pointers() noexcept { return entries_.data(); }

  /// Writes the pid of the command where ours stood. Allocates nothing: may be called between fork and exec.
  void meant_for(pid_t command) noexcept;

 private:
  std::vector<std::string> own_;
  std::array<std::string, 2> addressed_;  ///< entries that end with a pid, with room for it
  std::vector<char*> entries_;
};

}  // namespace rlock
