#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "loop/processes.h"

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

  /// The living processes: the `roots` for which `belongs` is true, the processes that were found before, and
  /// the descendants of both; then the `others`, which are asked for last, and their descendants. Reads two
  /// small files for each process. A search that reaches `until` ends there, and forgets none of those that it
  /// has not reached. Without /proc it finds and forgets none.
  std::vector<ProcessFacts> find(const std::vector<pid_t>& roots, const Belongs& belongs, const Visit& visit,
                                 const std::function<std::vector<pid_t>()>& others = {},
                                 TimePoint until = kNever);

 private:
  pid_t never_;
  std::unordered_map<pid_t, std::int64_t> found_;  ///< by the last whole search: when each was started
};

}  // namespace rlock
