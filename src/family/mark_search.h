#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "family/marks.h"
#include "family/search_apart.h"
#include "family/unasked.h"

namespace rlock {

/// The search for the processes with the marks of a command, in any session. It goes on from turn to turn, because the same thread
/// renews the lock.
class MarkSearch {
 public:
  explicit MarkSearch(Marks marks) : marks_(std::move(marks)) {}
  MarkSearch(const MarkSearch&) = delete;
  MarkSearch& operator=(const MarkSearch&) = delete;

  const Marks& marks() const noexcept { return marks_; }

  /// Begins a search, or goes on with it, for a tenth of a second at most. It has ended if it has found a process, or if
  /// unanswered() is empty: all have answered, but for strangers.
  void go_on(const Origin& command);

  /// What this turn has found.
  const std::vector<pid_t>& found() const noexcept { return found_; }

  /// What keeps the search from its end: it has not asked them, or /proc has not shown their environment in time.
  const std::vector<pid_t>& unanswered() const noexcept { return unanswered_; }

  /// Has a stranger been silent?
  bool doubtful() const noexcept { return doubtful_; }

 private:
  Marks marks_;
  Unasked unasked_;
  std::optional<SearchApart> asked_;  ///< about those
  std::vector<pid_t> found_, unanswered_;
  bool doubtful_ = false;
};

}  // namespace rlock
