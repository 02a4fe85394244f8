#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rlock {

/// Variables to set; without a value, to unset.
using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// The environment of a command: ours with some changes.
///
/// systemd names the receiver in LISTEN_PID and WATCHDOG_PID. If they name us, they will name the command.
/// REQUIRES: our environment does not change meanwhile, because unchanged entries are not copied.
class Environment {
 public:
  explicit Environment(const Variables& changes);

  /// The array that exec takes.
  char** pointers() noexcept { return entries_.data(); }

  /// Writes the command's pid in place of ours. It does not allocate, so it may be called between fork and
  /// exec.
  void meant_for(pid_t command) noexcept;

 private:
  std::vector<std::string> own_;
  std::array<std::string, 2> addressed_;  ///< entries that end with a pid, with room for another one
  std::vector<char*> entries_;
};

}  // namespace rlock
