#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "process/processes.h"

namespace rlock {

/// What tells a command from processes that have nothing to do with it.
struct Origin {
  pid_t session = 0;
  std::int64_t born = 0;  ///< the start of its first process; 0: not known
  pid_t parent = 0;       ///< that has started this process
};

/// What /proc shows. Tests show what they like.
struct ProcView {
  std::vector<pid_t> (*all)() = all_processes;
  std::optional<ProcessFacts> (*facts)(pid_t) = facts_of;
};

/// The processes that a search has not asked yet. A list of /proc is no snapshot: while it is read, a process may start another one and
/// end. So a search makes list after list, until one has nobody that it has not asked.
class Unasked {
 public:
  explicit Unasked(ProcView proc = {}) : proc_(proc) {}

  /// Those that no list has had before. After the first list, a child of one that has answered "no" and lives is left
  /// out: else there would be no end while somebody else starts processes. Empty: the search has asked all.
  /// REQUIRES: none of the list before is one of those searched for.
  std::vector<pid_t> next();

  /// Has a list been made?
  bool begun() const noexcept { return !listed_.empty(); }

  /// Forgets all lists.
  void begin_again() { listed_.clear(); }

 private:
  std::vector<pid_t> new_ones();
  bool has_answered(pid_t pid) const;

  ProcView proc_;
  std::unordered_map<pid_t, std::int64_t> listed_;  ///< their starts
  bool may_lack_one_ = false;                       ///< one has ended while the last list was made
};

/// Does the process hardly belong to the command, so that a release does not wait for its answer? It or its session is
/// older than the command, or it descends from an older process that has not adopted it.
bool is_stranger(pid_t pid, const Origin& command, const ProcView& proc = {});

}  // namespace rlock
