#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "base/ancestry.h"
#include "family/family.h"
#include "family/script_members.h"

namespace rlock {

/// The family of a script (`lock acquire --while-pid`; it is no child of ours): its ScriptMembers.
class ScriptFamily final : public Family {
 public:
  /// Tags the script and its descendants. `keeper`: the process that keeps the script's lock; it never belongs
  /// to the family.
  ScriptFamily(const ProcessId& script, pid_t keeper);

  void look() override;

  /// Before KILL the processes are frozen. When signal() returns, the survivors run again. Afterwards call
  /// all() or surely_gone() now and then for a second. They continue an ancestor of the script (su, sudo) that
  /// has stopped with it.
  std::vector<pid_t> signal(int number, TimePoint now, TimePoint until) override;
  std::vector<pid_t> all(TimePoint now) override;

  /// Also false while an orphan beside the script lives that neither a look nor the tag knows, because it may belong
  /// to the script.
  bool surely_gone(TimePoint now) override;

  /// Does the script's first process live? The processes that it has started do not count.
  bool script_lives() const { return members_.script_lives(); }

 private:
  /// What a freeze has stopped.
  struct Frozen {
    std::vector<ProcessFacts> processes;  ///< from the top, as they were before
    std::vector<pid_t> refused;           ///< those of them that we may not signal
  };

  std::vector<pid_t> signal_as_found(int number, TimePoint until);
  std::vector<pid_t> signal_frozen(int number, TimePoint now);
  Frozen freeze(TimePoint until);
  void kill_tagged();
  void wake_ancestors(TimePoint now) const;

  ScriptMembers members_;
  std::vector<ProcessFacts> ancestors_;  ///< the script's ancestors, as they were before the freeze
  std::optional<TimePoint> frozen_;      ///< the time of the last freeze
};

}  // namespace rlock
