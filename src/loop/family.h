#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ancestry.h"
#include "base/time.h"
#include "loop/processes.h"

namespace rlock {

/// Which processes have to stop together, and which ones a release has to wait for. There are two kinds.
///
/// A command's family (`rlock run`): its process group, and every other process in our session that has the
/// marks of this run in its environment, because `timeout`, `set -m`, GNU parallel and nested runs make
/// groups of their own. Processes in other sessions (setsid, daemons) or with a cleared environment are not
/// stopped.
///
/// A script's family (`lock acquire --while-pid`; it is no child of ours): the script, its descendants,
/// every process that look() or signal() ever saw as a descendant, whatever its parent is now, the members
/// of its process group that were forked from it and run the same program, and the members of the process
/// group or session that the script leads.
///
/// If /proc does not show us, only the group or the script itself is known. The id of a group whose
/// processes have all ended may be reused: nothing is sent to a group of another session.
class Family {
 public:
  /// `group`: 0 while it is not known. `marks`: "NAME=value", all of which must stand in an environment, each
  /// whole or as the first lines of a longer value; none: only the group.
  Family(pid_t group, pid_t session, std::vector<std::string> marks);

  /// `keeper`: the process that keeps the script's lock; it never belongs to the family. `marks`: as above, for
  /// surely_gone() only.
  static Family of_script(const ProcessId& script, pid_t keeper, std::vector<std::string> marks = {});

  pid_t group() const noexcept { return group_; }
  void set_group(pid_t group) noexcept { group_ = group; }

  /// Does /proc show this process, and by the number that kill() takes?
  static bool proc_shows_us() { return rlock::proc_shows_us(); }

  /// Remembers the descendants of now. Call it with each renewal: a process that was seen counts even if
  /// its parent has ended. Costs two small files for each descendant.
  void look();

  /// Signals all of them. Returns the processes that we may not signal (EPERM).
  ///
  /// A script's processes are frozen first, so that nothing is forked between the look and the signal. When
  /// this returns, those run again that ran before, unless the signal has ended them. Call all() or
  /// surely_gone() now and then for a second afterwards: an ancestor of the script (su, sudo) may have stopped
  /// with it, and is continued there.
  ///
  /// A command's group gets it at once. The processes that have left it are searched for first, among all
  /// processes of the session, which may be thousands: the search ends at `until`, when the next signal is
  /// due.
  std::vector<pid_t> signal(int number, TimePoint until = kNever);

  /// The living processes of the group. A zombie does not live.
  std::vector<pid_t> in_group() const;

  /// Does a process of the group live? The kernel tells: a member that /proc does not show counts as alive.
  /// REQUIRES: its first process has been reaped, if it is a child of ours; until then it is a member.
  bool group_lives() const;

  /// Does the script's first process live? The processes that it has started do not count.
  bool script_lives() const;

  /// The living processes that signal() reaches; while there is one, the lock must not be released. For a
  /// command the search ends at `until`.
  std::vector<pid_t> all(TimePoint until = kNever);

  /// Does /proc show us all processes? If not, surely_gone() is never true.
  static bool sees_everybody() { return rlock::proc_shows_us() && !rlock::proc_hides_others(); }

  /// Have all processes ended that might still do what the lock protects? Looks for more than all(): every
  /// process with the marks, in any session; every process that was ever seen as a descendant; and every
  /// process beside the script whose parent has ended and that no look has seen, since it may be the
  /// script's. False if /proc hides processes from us. If it is false, the lock must not be released: its
  /// lease ends it.
  bool surely_gone();

 private:
  bool group_exists() const;
  bool group_is_ours() const;
  bool is_in_group(pid_t pid) const;
  bool is_marked(pid_t pid) const;
  bool hides_its_marks(pid_t pid) const;

  /// Called with each process before its children are read.
  using Visit = std::function<void(const ProcessFacts&)>;
  std::vector<ProcessFacts> descendants(const Visit& visit);
  std::vector<ProcessFacts> members_of_script(const Visit& visit);
  std::vector<ProcessFacts> with_descendants(const std::vector<pid_t>& roots, const Visit& visit,
                                             bool with_copies = false);
  std::vector<pid_t> copies_of_script() const;
  bool is_script(const ProcessFacts& process) const;
  bool is_led_by_script(const ProcessFacts& process) const;
  bool may_be_an_orphan_of_script(const ProcessFacts& process) const;

  std::vector<pid_t> signal_script(int number);
  bool stays_together();
  std::vector<pid_t> signal_as_found(int number);
  std::vector<ProcessFacts> freeze(int for_signal, std::vector<pid_t>& refused);
  void wake_ancestors();

  pid_t group_;
  pid_t session_;
  std::vector<std::string> marks_;

  ProcessFacts script_;      ///< as we saw it last; a command's family has none, and its pid is 0
  std::uint64_t stack_ = 0;  ///< of the script: see stack_of(). 0: it tells nothing
  pid_t keeper_ = 0;
  std::unordered_map<pid_t, std::int64_t>
      seen_;                             ///< every descendant that was seen and lives: when it started
  std::vector<ProcessFacts> ancestors_;  ///< of the script, as they were before it was frozen
  std::optional<TimePoint> frozen_;      ///< when it was, last
};

}  // namespace rlock
