#pragma once

#include <string>
#include <vector>

namespace rlock {

/// A program that outlives us and our session.
struct Daemon {
  std::vector<std::string> argv;         ///< the program's path, then its arguments; PATH is not searched
  std::vector<std::string> environment;  ///< the whole environment, "NAME=value"
  /// A descriptor that stays open in the daemon, such as a lock that must end with it; -1: none.
  int keep = -1;
  int folder = -1;  ///< a descriptor of the folder that it starts in; -1: the root
};

/// Starts a program in its own session, reparented to init. Its stdin, stdout and stderr are /dev/null, and of our
/// descriptors it has only `keep`. No signal is blocked or ignored. So `$(...)` around us does not wait for the
/// daemon, and ^C does not reach it. Returns when the program has been executed. Throws Error{system} if
/// that fails.
void start_daemon(const Daemon& daemon);

}  // namespace rlock
