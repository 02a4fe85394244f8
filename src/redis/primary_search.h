#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/connection.h"
#include "redis/target.h"

namespace rlock {

/// Asks the Sentinels, one after the other, where the primary is. Each gets its
/// share of the time to connect; the one that could tell is asked first the
/// next time. A Sentinel that does not know our password is asked without one.
///
/// Passive like a Source, for its owner: begin(), and advance() after a turn of the loop.
class PrimarySearch {
 public:
  PrimarySearch(Loop& loop, const Target& target, std::shared_ptr<const TlsContext> tls,
                const Timeouts& timeouts);

  /// Asks all of them again.
  void begin(TimePoint now);

  /// What was found is not a primary, or not there: asks those who have not been asked yet.
  void disbelieve(Failure why, TimePoint now);

  void advance(TimePoint now);

  /// At most one of them, and none while it is under way.
  const std::optional<Address>& found() const noexcept { return found_; }
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  TimePoint wake_at() const;

 private:
  void ask_next(TimePoint now);
  void ask(TimePoint now);
  void accept(const Reply& reply, TimePoint now);

  /// What a failure is worth telling: what a Sentinel says is more than that another one does not answer.
  enum class Weight { silent, unknown, denied, stale };
  void pass(Weight weight, Failure why, TimePoint now);
  void remember(Weight weight, Failure why);
  const Address& sentinel() const { return target_.addresses[order_[position_]]; }

  Loop& loop_;
  const Target target_;
  const std::shared_ptr<const TlsContext> tls_;
  const Milliseconds share_;
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;  ///< of the next one to ask, or of the one that is being asked
  bool with_password_ = true;
  bool resp3_ = true;
  std::unique_ptr<Connection> connection_;
  std::shared_ptr<InFlightCall> in_flight_;
  TimePoint deadline_ = kNever;
  std::optional<Failure> refused_;  ///< what it said to our password
  std::optional<Address> found_;
  Weight weight_ = Weight::silent;
  std::optional<Failure> worst_;
  std::optional<Failure> failure_;
};

}  // namespace rlock
