#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "loop/loop.h"
#include "redis/redis.h"
#include "sync/wait/acquire.h"
#include "sync/watch/deadlock.h"
#include "sync/watch/inquiry.h"

namespace rlock {

/// While a nested run waits, searches for a deadlock at each wait_line_at(), counted from the first busy answer. The
/// youngest member of the circle gives up, so that the others can go on.
///
/// A waiter that was killed does not count: its own lock ends with its lease.
class DeadlockWatch final : public Source {
 public:
  struct Options {
    std::vector<OuterHold> holds;  ///< holds of the runs above us
    bool gives_up = true;          ///< false: only print the deadlock
    Milliseconds answer_within{0};
  };
  DeadlockWatch(Redis& redis, Options options);

  /// For AcquireOptions::report.
  void note_waiting(const Waiting& waiting);

  /// We are the youngest member of a circle: the wait must end.
  bool ends_the_wait() const noexcept { return ends_the_wait_; }

  /// The whole circle, for people.
  const std::string& text() const noexcept { return text_; }

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  void begin(TimePoint now);
  void ask_next(TimePoint now);
  void conclude(TimePoint now);
  void ask_for_listeners();
  void take_listeners();

  Redis& redis_;
  const Options options_;
  std::optional<Owner> us_;
  LockName wanted_;
  TimePoint begun_ = kNever;  ///< when the wait began
  std::size_t looks_ = 0;
  TimePoint look_at_ = kNever;
  std::optional<DeadlockSearch> search_;
  std::vector<Owner> suspects_;         ///< the circle that the last search found
  std::vector<DeadlockMember> circle_;  ///< the circle that was found twice: do all its members live?
  std::size_t living_ = 0;              ///< how many members are known to live, from the first on
  Inquiry inquiry_;
  bool ends_the_wait_ = false;
  std::string text_;
  Membership membership_{redis_.loop(), *this};
};

}  // namespace rlock
