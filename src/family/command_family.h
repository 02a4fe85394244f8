#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "family/descendants.h"
#include "family/family.h"
#include "family/mark_search.h"

namespace rlock {

/// The family of a command (`rlock run`): its process group, and every other process in our session whose
/// environment has the marks of this run. `timeout`, `set -m`, GNU parallel and nested runs make groups of
/// their own. Processes in other sessions (setsid, daemons) or with a cleared environment are not stopped. But
/// if look() has seen such a process, the lock is not released while the process lives.
///
/// If /proc does not show our own process, only the group is known. When all processes of a group have ended,
/// its id may be reused. So nothing is sent to a group of another session.
class CommandFamily final : public Family {
 public:
  /// `group`: 0: unknown yet. `marks`: see Marks. Empty: only the group counts.
  CommandFamily(pid_t group, pid_t session, std::vector<std::string> marks);

  pid_t session() const noexcept { return command_.session; }
  pid_t group() const noexcept { return group_; }
  void set_group(pid_t group) noexcept {
    group_ = group;
    command_ = {.session = command_.session};
  }

  void look() override;
  std::vector<pid_t> signal(int number, TimePoint now, TimePoint until) override;

  /// The living processes of the group, and those with the marks in our session. The search for the marks goes on for a tenth
  /// of a second at most; if it has not ended by then, unanswered() is not empty.
  std::vector<pid_t> all(TimePoint now) override;

  /// Every process with the marks that the last all() has found, in any session, and every one that a search has found before
  /// or a look has seen as a descendant.
  std::vector<pid_t> out_of_reach() override;

  const std::vector<pid_t>& unanswered() const override { return search_.unanswered(); }

  /// Counts every process with the marks, in any session, and every one that a look has seen as a descendant. May be false
  /// while the search for them goes on.
  bool surely_gone(TimePoint now) override;

  /// The living processes of the group. A zombie does not live.
  std::vector<pid_t> in_group() const;

  /// Does a process of the group live? If /proc does not show the members, the group counts as alive as long as it
  /// exists. REQUIRES: if its first process is a child of ours, that has been reaped. A zombie is a member of the
  /// group, too.
  bool group_lives() const;

 private:
  std::vector<ProcessFacts> descendants();
  void search();
  bool group_exists() const;
  bool group_is_ours() const;
  bool is_in_group(pid_t pid) const;
  bool hides_its_marks(pid_t pid) const;
  void learn(const ProcessFacts& first);

  pid_t group_;
  Origin command_;
  MarkSearch search_;
  Descendants seen_{0};
  std::vector<pid_t> silent_;  ///< the last signal() has asked about them in vain
};

}  // namespace rlock
