#pragma once

#include <sys/types.h>

#include <array>
#include <climits>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/time.h"

namespace rlock {

// The kernel makes a reader of /proc wait while the process that it asks about changes its memory. That takes long if this
// process gets no processor. So another process asks (if one can be started).

using IsOne = std::function<bool(pid_t)>;

/// A process that asks about one candidate after the other, and writes a byte for each into a pipe.
class Asker {
 public:
  Asker(std::span<const pid_t> candidates, const IsOne& is_one);
  ~Asker();
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  bool started() const noexcept { return process_ > 0; }
  bool ended() const noexcept { return ended_; }  ///< it gives no more answers

  /// Reads the next answers: 'y' or 'n'. Empty if none comes until `until`, or if the process has ended.
  std::string_view next(TimePoint until);

 private:
  pid_t process_ = -1;
  Descriptor answers_;
  bool ended_ = false;
  std::array<char, 1024> buffer_{};
};

/// A search for a caller that does something else meanwhile. It waits for each answer, however long that takes.
class SearchApart {
 public:
  SearchApart(std::vector<pid_t> candidates, IsOne is_one)
      : candidates_(std::move(candidates)), is_one_(std::move(is_one)) {}

  /// Searches until `until` at most.
  void go_on(TimePoint until);

  /// Leaves out the first process without an answer, or asks about it once more at the end.
  void skip(bool ask_again);

  const std::vector<pid_t>& found() const noexcept { return found_; }
  std::span<const pid_t> unanswered() const { return std::span{candidates_}.subspan(next_); }

 private:
  std::vector<pid_t> candidates_;
  IsOne is_one_;
  std::size_t next_ = 0;
  std::vector<pid_t> found_;
  std::optional<Asker> asker_;
  TimePoint replace_at_ = kNever;  ///< the helper may be stopped, so another takes its place
};

struct FoundApart {
  std::vector<pid_t> found;   ///< `is_one` is true for these
  std::vector<pid_t> silent;  ///< those that were asked about in vain, some of them twice
};

/// When a search ends before all candidates have been asked about.
struct SearchLimit {
  TimePoint until = kNever;
  int silences = INT_MAX;        ///< it ends when it has waited in vain so many times
  Milliseconds one_answer{500};  ///< how long it waits for one answer
};

/// A search in one go. If `is_one` hangs, the search goes on with the next candidate, and asks about this one
/// once more at the end: perhaps the helper only waited for a processor.
FoundApart find_apart(std::vector<pid_t> candidates, const IsOne& is_one, const SearchLimit& limit);

}  // namespace rlock
