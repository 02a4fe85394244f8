#pragma once

#include <optional>
#include <string>
#include <utility>

#include "loop/loop.h"
#include "loop/source.h"
#include "redis/redis.h"
#include "sync/kinds/once_per.h"
#include "sync/wait/acquire.h"

namespace rlock {

/// For a run with --once-per whose lock is busy: asks the server whether the work is done already. If it is, the run
/// need not wait. REQUIRES: a single --url.
class OnceWatch final : public Source {
 public:
  OnceWatch(Redis& redis, LockName name, Milliseconds answer_within)
      : redis_(redis), name_(std::move(name)), answer_within_(answer_within) {}

  /// For AcquireOptions::report.
  void note_waiting(const Waiting& waiting);

  /// Is the work done, according to the last answer? Once true, it stays true.
  bool done() const noexcept { return done_.has_value(); }

  /// At the end of the wait: asks once more, and waits for the answer.
  void ask_and_wait();

  /// "'report' was done 3m ago by root@web-1, so the command does not run; again after 5h57m". REQUIRES: done()
  std::string text() const;

  TimePoint wake_at() const override { return asked_ && asked_.settled() ? TimePoint::min() : kNever; }
  void ready(short, TimePoint) override { advance(); }

 private:
  void advance();
  void ask();

  Redis& redis_;
  LockName name_;
  Milliseconds answer_within_;
  Redis::Request asked_;
  bool ask_again_ = false;  ///< "busy" came after the question was sent
  std::optional<OncePer::Done> done_;
  Membership membership_{redis_.loop(), *this};
};

}  // namespace rlock
