#pragma once

#include <sys/types.h>

#include <array>
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

/// A process that asks about one candidate after the other. It writes a byte into a pipe when it begins, and one for each.
class Asker {
 public:
  Asker(std::span<const pid_t> candidates, const std::function<bool(pid_t)>& is_one);
  ~Asker();
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  /// Reads the next bytes: '.' at the beginning, then 'y' or 'n'. Empty if none comes until `until`, or if it has ended.
  std::string_view next(TimePoint until);

  /// It gives no more answers: it has ended, could not be started, or has no descriptor to read /proc.
  bool ended() const noexcept { return ended_; }

 private:
  pid_t process_ = -1;
  Descriptor answers_;
  bool ended_ = true;
  std::array<char, 1024> buffer_{};
};

/// Finds the candidates for which `is_one` is true. `is_one` may hang, because the kernel makes a reader of /proc wait while
/// the candidate changes its memory. That takes long if the candidate gets no processor. So another process calls `is_one`
/// (if it can), and the caller may do something else meanwhile. If an answer takes longer than `one_answer`, the search goes on
/// with the next candidate, and asks about this one again at the end.
class SearchApart {
 public:
  SearchApart(std::vector<pid_t> candidates, std::function<bool(pid_t)> is_one, Milliseconds one_answer)
      : to_ask_(std::move(candidates)),
        given_(to_ask_.size()),
        is_one_(std::move(is_one)),
        one_answer_(one_answer) {}

  /// Searches until `until` at most, or until all candidates have answered.
  void go_on(TimePoint until);

  const std::vector<pid_t>& found() const noexcept { return found_; }
  std::span<const pid_t> unanswered() const { return std::span{to_ask_}.subspan(next_); }

  /// Have all candidates been asked? Then those without an answer have been silent.
  bool asked_all() const noexcept { return next_ >= given_; }

  /// Those that were silent, some of them more than once.
  std::span<const pid_t> silent() const { return std::span{to_ask_}.subspan(given_); }

 private:
  std::vector<pid_t> to_ask_;  ///< the candidates, and behind them those that were silent, once more
  std::size_t given_;          ///< how many candidates there are
  std::function<bool(pid_t)> is_one_;
  Milliseconds one_answer_;
  std::size_t next_ = 0;
  std::vector<pid_t> found_;
  std::optional<Asker> asker_;
  TimePoint silent_at_ = kNever;  ///< when we wait no longer for the next answer
};

}  // namespace rlock
