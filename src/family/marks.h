#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rlock {

/// The texts "NAME=value" that mark the processes of a run. Each may be a whole value of the environment, or the first lines of a
/// longer one. A process passes its marks on to its children, so they tell whose process it is even if its parent has ended.
class Marks {
 public:
  explicit Marks(std::vector<std::string> marks) : marks_(std::move(marks)) {}

  /// Does the process live, with all marks in its environment? False if there are no marks. May hang: see proc_text().
  bool on_living(pid_t pid) const;

 private:
  std::vector<std::string> marks_;
};

}  // namespace rlock
