#pragma once

#include <string>
#include <vector>

namespace rlock {

/// A program that is to outlive us and our session.
struct Daemon {
  std::vector<std::string> argv;         ///< the file first, with its path: nothing is looked up
  std::vector<std::string> environment;  ///< all of it, "NAME=value"
  int keep =
      -1;  ///< a descriptor that stays open in it, and only there needs to: a flock that ends with the daemon
  int folder = -1;  ///< a descriptor of the folder that it starts in; none: the root
};

/// Starts it in a session of its own, as nobody's child, with /dev/null as stdin, stdout and stderr, no
/// descriptor of ours but `keep`, and signals as a login would leave them: `$(...)` around us returns when we
/// end, and a ^C does not reach it. Returns when the program has been executed. Throws Error{system} when it
/// cannot be.
void start_daemon(const Daemon& daemon);

}  // namespace rlock
