#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "redis/redis.h"
#include "sync/wait/acquire_options.h"
#include "sync/wait/ballot.h"
#include "sync/wait/stage.h"
#include "sync/wait/undo.h"

namespace rlock {

/// Makes one round after the other: a call for each stage of an acquire request, until one stage cannot be acquired.
class Round {
 public:
  /// REQUIRES: `redis` and `options` outlive it.
  Round(Redis& redis, const AcquireOptions& options) : redis_(redis), options_(options) {}

  /// With -n, the patience has ended from the start. Then there is one round, and it gets its full time.
  bool is_single() const noexcept { return options_.patience.until <= wait_begun_; }

  /// Asks for every stage in order, and tells `undo` about each call. Empty: the stage blocked_at() cannot be
  /// acquired now; result() says why. What the earlier stages acquired is not undone yet.
  std::optional<Acquired> run(std::vector<Stage>& stages, Undo& undo, FactsThere facts);

  /// Before the first contact with several nodes, waits until a quorum is connected or cannot be. If the
  /// lease is short, a round gives a node too little time for that: a connection with TLS takes several round trips.
  void connect();

  /// From now on a round ends at `at` at the latest; a single round (-n) may take longer.
  void end_by(TimePoint at) noexcept { end_by_ = at; }

  /// For the last run(): the stage it reached, the result there, and how long that took.
  std::size_t blocked_at() const noexcept { return blocked_; }
  const BallotResult& result() const noexcept { return result_; }
  Milliseconds took() const noexcept { return took_; }

  /// Was the last call written to any node?
  bool has_asked() const {
    return std::ranges::any_of(votes_, [](const Vote& vote) { return vote.attempts > 0; });
  }

 private:
  void ask(Stage& stage, Undo& undo, FactsThere facts, Next next);
  void write_facts(const Stage& stage);
  Redis::EnoughFrom replies_of_quorum() const;
  Failure why_closed() const;
  bool await_replicas_of(const Waitable& what);
  Patience patience_of(Milliseconds step) const;
  void count_as_failed(Failure why);

  Redis& redis_;
  const AcquireOptions& options_;
  const bool several_nodes_ = redis_.nodes() > 1;
  TimePoint end_by_ = kNever;
  const TimePoint wait_begun_ = redis_.loop().now();
  std::size_t blocked_ = 0;
  Votes votes_;
  BallotResult result_;
  Milliseconds took_{0};
};

}  // namespace rlock
