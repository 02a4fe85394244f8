#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loop/loop.h"
#include "redis/redis.h"
#include "sync/wait/acquire.h"
#include "sync/watch/deadlock.h"
#include "sync/watch/inquiry.h"

namespace rlock {

/// Looks now and then, while a nested run waits, whether it waits for itself: one second after the wait
/// began, and when wait lines are due. The youngest of a circle gives up, so that the others go on.
///
/// A waiter that was killed is in no circle: its own lock ends with its lease.
class DeadlockWatch final : public Source {
 public:
  struct Options {
    std::vector<HeldKey> holds;  ///< of the runs above us
    bool gives_up = true;        ///< else it only says so
    Milliseconds answer_within{0};
  };
  DeadlockWatch(Redis& redis, Options options);
  ~DeadlockWatch() override;

  /// For AcquireOptions: what the waiter sees now.
  void hear(const Waiting& waiting);

  /// We are the youngest of a circle: the wait is to end.
  bool ends_the_wait() const noexcept { return ends_the_wait_; }

  /// The whole circle, for a person.
  const std::string& text() const noexcept { return text_; }

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  void begin(TimePoint now);
  void conclude(TimePoint now);
  void ask_who_lives();
  void hear_who_lives();

  Redis& redis_;
  const Options options_;
  std::optional<Owner> us_;
  LockName wanted_;
  TimePoint begun_ = kNever;  ///< the wait
  std::size_t looks_ = 0;
  TimePoint look_at_ = kNever;
  std::optional<DeadlockSearch> search_;
  std::vector<Owner> suspects_;         ///< the circle that the last look has found
  std::vector<DeadlockMember> circle_;  ///< found twice: do all of it live?
  std::size_t living_ = 0;              ///< so many of it do, we first
  Inquiry inquiry_;
  bool ends_the_wait_ = false;
  std::string text_;
};

}  // namespace rlock
