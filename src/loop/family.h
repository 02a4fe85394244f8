#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rlock {

/// What "the command" is, when it has to stop: its process group, and whoever else
/// of our session carries the marks of this run in his environment, for `timeout`,
/// `set -m`, GNU parallel and runs inside this one make groups of their own.
///
/// Not reached: other sessions (setsid, daemons), a cleared environment. Where /proc does not show us, only
/// the group is.
///
/// A group whose processes have all ended and been reaped leaves its number to another one. Nothing is sent
/// to a group of another session.
class Family {
 public:
  /// `group`: 0 while it is not known. `marks`: "NAME=value", all of which must stand in an environment, each
  /// whole or as the first lines of a longer value; none: only the group.
  Family(pid_t group, pid_t session, std::vector<std::string> marks);

  /// A script is a family of its own: a process that is no child of ours, and what it has started, as long as
  /// somebody of those whom we have seen lives. `keeper`: who keeps its lock, and is none of them.
  static Family of_script(pid_t script, pid_t keeper);

  pid_t group() const noexcept { return group_; }
  void set_group(pid_t group) noexcept { group_ = group; }

  /// Does /proc show this process, and by the number that kill() takes? Not in a chroot without it, nor where
  /// it is that of another pid namespace.
  static bool proc_shows_us();

  /// Sends to all of them. Answers those who exist and whom we may not signal (EPERM).
  std::vector<pid_t> signal(int number) const;

  /// The living processes of the group. A zombie does not live.
  std::vector<pid_t> in_group() const;

  /// Does anybody of the group live? The kernel tells: a member that /proc does not show is taken for alive.
  /// REQUIRES: its first process has been reaped, if it is a child of ours; until then it is a member.
  bool group_lives() const;

  /// May somebody live of whom we cannot know? Where /proc does not show us, or a process of our session does
  /// not show its environment: it is another user's.
  bool may_hide_somebody() const;

  /// Of a script: does its first process live? Nothing of what it has started counts.
  bool script_lives() const;

  /// The living processes of the group and those outside it that carry the marks; of a script: all that live.
  std::vector<pid_t> all() const;

 private:
  bool group_exists() const;
  bool group_is_ours() const;
  bool is_in_group(pid_t pid) const;
  bool is_marked(pid_t pid) const;

  /// A process by its number and by when it was started: the number may have a new owner.
  struct Member {
    pid_t pid = 0;
    std::string started;
  };
  std::vector<pid_t> of_tree() const;
  bool lives(const Member& member) const;

  pid_t group_;
  pid_t session_;
  std::vector<std::string> marks_;
  pid_t script_ = 0;
  pid_t keeper_ = 0;
  /// Of a script, it first. Kept: whoever is left when it has ended is nobody's child that could be found.
  mutable std::vector<Member> tree_;
};

}  // namespace rlock
