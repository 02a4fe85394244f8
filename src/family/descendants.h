#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "process/processes.h"

namespace rlock {

/// The descendants of some processes, and every process that a search has ever found, whatever its parent is
/// now.
class Descendants {
 public:
  /// Called with each process before its children are read.
  using Visit = std::function<void(const ProcessFacts&)>;
  using Belongs = std::function<bool(const ProcessFacts&)>;

  /// `never`: this process does not count, and neither does our own.
  explicit Descendants(pid_t never) : never_(never) {}

  /// Returns living processes: the `roots` for which `belongs` is true, the processes that were found before, and the
  /// descendants of both. Then it calls `others`, and adds the processes that it returns, with their descendants.
  /// Reads two small files for each process. A search ends at `until`, and forgets no process that it has not
  /// reached. Without /proc it finds and forgets none.
  std::vector<ProcessFacts> find(const std::vector<pid_t>& roots, const Belongs& belongs, const Visit& visit,
                                 const std::function<std::vector<pid_t>()>& others = {},
                                 TimePoint until = kNever);

 private:
  pid_t never_;
  std::unordered_map<pid_t, std::int64_t> found_;  ///< the start time of each process that was found before
};

}  // namespace rlock
