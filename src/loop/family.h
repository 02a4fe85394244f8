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
/// Of a command (`rlock run`): its process group, and everybody else in our session who carries the marks of
/// this run in his environment, because `timeout`, `set -m`, GNU parallel and nested runs make groups of their
/// own. Other sessions (setsid, daemons) and a cleared environment are not stopped.
///
/// Of a script (`lock acquire --while-pid`), which is no child of ours: the script, its descendants, every
/// process that look() or signal() ever saw as a descendant, whatever its parent is now, those of its process
/// group that were forked from it and run the same program, and the members of the process group or session
/// that the script leads.
///
/// Where /proc does not show us, only the group or the script itself is known. A group whose processes have
/// all ended leaves its number to another one: nothing is sent to a group of another session.
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

  /// Remembers who is a descendant now. Call it with each renewal: a process that was seen counts even when
  /// its parent has ended. Costs two small files for each descendant.
  void look();

  /// Sends to all of them. Answers those who exist and whom we may not signal (EPERM).
  ///
  /// A script's processes are frozen first, so that nothing is forked between the look and the signal. When
  /// this returns, those run again that ran before, unless the signal has ended them. Call all() or
  /// surely_gone() now and then for a second afterwards: an ancestor of the script (su, sudo) may have stopped
  /// with it, and is continued there.
  ///
  /// A command's group gets it at once. Whoever has left it has to be found first, among all processes of the
  /// session, which may be thousands: that ends at `until`, when the next signal is due.
  std::vector<pid_t> signal(int number, TimePoint until = kNever);

  /// The living processes of the group. A zombie does not live.
  std::vector<pid_t> in_group() const;

  /// Does anybody of the group live? The kernel tells: a member that /proc does not show is taken for alive.
  /// REQUIRES: its first process has been reaped, if it is a child of ours; until then it is a member.
  bool group_lives() const;

  /// Of a script: does its first process live? Nothing of what it has started counts.
  bool script_lives() const;

  /// The living processes that signal() reaches, and on which nobody may release. Of a command those that were
  /// found `until` then.
  std::vector<pid_t> all(TimePoint until = kNever);

  /// Does /proc show us everybody? Else surely_gone() is never true.
  static bool sees_everybody() { return rlock::proc_shows_us() && !rlock::proc_hides_others(); }

  /// Has everybody ended who may still do what the lock protects? That is more than all(): anybody who carries
  /// the marks, in any session; anybody who was ever seen as a descendant; a process beside the script that
  /// lost its parent and that nobody has seen before, since it may be the script's. False also where /proc
  /// hides processes from us. Then nobody may release: the lease decides.
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
