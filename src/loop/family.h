#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rlock {

/// What "the command" is, when it has to stop: its process group, and whoever else of our session carries the marks of this
/// run in his environment, for `timeout`, `set -m`, GNU parallel and runs inside this one make groups of their own.
///
/// Not reached: other sessions (setsid, daemons), a cleared environment.
class Family {
 public:
  /// `group`: 0 while it is not known. `marks`: "NAME=value", all of which must stand in an environment, each whole or as the
  /// first lines of a longer value; none: only the group.
  Family(pid_t group, pid_t session, std::vector<std::string> marks);

  pid_t group() const noexcept { return group_; }
  void set_group(pid_t group) noexcept { group_ = group; }

  /// Sends to all of them. Answers those who exist and whom we may not signal (EPERM).
  std::vector<pid_t> signal(int number) const;

  /// The living processes of the group. A zombie does not live.
  std::vector<pid_t> in_group() const;

  /// The living processes of the group and those outside it that carry the marks.
  std::vector<pid_t> all() const;

 private:
  bool is_in_group(pid_t pid) const;
  bool is_marked(pid_t pid) const;

  pid_t group_;
  pid_t session_;
  std::vector<std::string> marks_;
};

}  // namespace rlock
