#pragma once

#include <sys/types.h>

#include <functional>
#include <unordered_set>
#include <vector>

#include "base/ancestry.h"
#include "family/descendants.h"
#include "process/script_tag.h"

namespace rlock {

/// Finds the processes of a script (`lock acquire --while-pid`). Each search reads /proc. These count:
/// - the script and its descendants;
/// - every process that an earlier search found, whatever its parent is now;
/// - every process that carries the script's tag;
/// - the members of the process group or session that the script leads.
class ScriptMembers {
 public:
  using Visit = Descendants::Visit;  ///< may be null

  /// What becomes of a process when its tag is seen, before its files are read.
  enum class OnTag { runs_on, gets_stop };

  /// Tags the script and its descendants. `keeper`: this process never counts.
  ScriptMembers(const ProcessId& script, pid_t keeper);

  /// Finds the descendants, and tags those that were forked before the script was tagged. A fork under way shows its
  /// process only later. Returns true if it has tagged one. Then there may be more.
  bool tag_descendants();

  const ProcessFacts& script() const noexcept { return script_; }  ///< as the last search saw it
  bool is_tagged() const noexcept { return is_tagged_; }

  /// Does the script's first process live? The processes that it has started do not count.
  bool script_lives() const;

  /// The script, its descendants and the processes of earlier searches. It reads the files of these only, if the kernel
  /// lists the children of a process.
  std::vector<ProcessFacts> descendants(const Visit& visit = {});

  /// All of them. A search that reaches `until` ends there.
  std::vector<ProcessFacts> all(const Visit& visit = {}, OnTag on_tag = OnTag::runs_on,
                                TimePoint until = kNever);

  /// A process with a tag that ended during the last all(), so that its children were not found; 0: none.
  pid_t vanished() const noexcept { return vanished_; }

  /// The processes with a tag of the script, or of a script inside it that has a keeper of its own. It reads no file
  /// of a process, but one of a process with the tag of an inner script that no search has seen.
  std::vector<pid_t> tagged(OnTag on_tag);
  bool carries_tag(pid_t pid) { return pid != keeper_ && recognize(tag_on(pid), pid); }

  /// Would a search find every process that the script may have started, even if the script has ended?
  bool stays_together();

  /// Does an orphan live in the script's group, which may be the script's or a stranger's? Or a process with the
  /// script's tag that we may not signal? `ancestors` do not count.
  bool may_have_orphans(const std::vector<ProcessFacts>& ancestors);

 private:
  std::vector<ProcessFacts> find(const std::vector<pid_t>& roots, const Visit& visit,
                                 const std::function<std::vector<pid_t>()>& others = {},
                                 TimePoint until = kNever);
  bool recognize(ScriptTag tag, pid_t carrier);
  bool is_script(const ProcessFacts& process) const;
  bool is_led_by_script(const ProcessFacts& process) const;
  bool may_be_an_orphan_of_script(const ProcessFacts& process) const;

  ProcessFacts script_;
  pid_t keeper_;
  bool is_tagged_ = false;
  ScriptTag tag_before_ = 0;  ///< that of an outer script
  ScriptTag tag_ = 0;
  std::unordered_set<ScriptNumber> scripts_;  ///< this script, and the scripts inside it that were seen
  pid_t vanished_ = 0;
  std::unordered_set<pid_t> zombies_;  ///< from the last all(): zombies with a tag
  Descendants seen_;
};

}  // namespace rlock
