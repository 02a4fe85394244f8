#pragma once

#include <optional>
#include <string>

#include "redis/redis.h"
#include "sync/kinds/once_per.h"
#include "sync/wait/acquire.h"

namespace rlock {

/// Asks, whenever a run with --once-per finds its lock busy, whether the work is done already: then it need
/// not wait. REQUIRES: one server, or what stands behind one URL.
class OnceWatch {
 public:
  OnceWatch(Redis& redis, LockName name, Milliseconds answer_within)
      : redis_(redis), name_(std::move(name)), answer_within_(answer_within) {}

  /// For AcquireOptions: what the waiter sees now.
  void hear(const Waiting& waiting);

  /// As far as the server has said; once true it stays so.
  bool done();

  /// The wait is over: asks once more, and waits for the answer.
  bool done_after_all();

  /// "'report' was done 3m ago by root@web-1; again after 5h57m". REQUIRES: done()
  std::string text() const;

 private:
  void ask();

  Redis& redis_;
  LockName name_;
  Milliseconds answer_within_;
  Redis::Request asked_;
  bool ask_again_ = false;  ///< busy was heard after the question was sent
  std::optional<OncePer::Done> done_;
};

}  // namespace rlock
