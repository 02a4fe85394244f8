#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/connection/connection.h"
#include "redis/connection/target.h"

namespace rlock {

/// Asks the Sentinels, one after the other, for the address of the primary. Each gets its share of the time
/// to connect. The first to answer is asked first next time. If a Sentinel refuses our password, it is asked
/// without one.
///
/// It is passive: its owner calls begin(), and advance() after a turn of the loop.
class PrimarySearch {
 public:
  PrimarySearch(Loop& loop, const Target& target, std::shared_ptr<const TlsContext> tls,
                const Timeouts& timeouts);

  /// Starts again with all Sentinels.
  void begin(TimePoint now);

  /// This server was found, but is no primary, or cannot be reached: asks the remaining Sentinels for another one.
  void disbelieve(const Address& server, Failure why, TimePoint now);

  void advance(TimePoint now);

  /// At most one is set; none while the search goes on.
  const std::optional<Address>& found() const noexcept { return found_; }
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  /// "Sentinel HOST:PORT": the one that is being asked.
  std::string asked() const { return "Sentinel " + sentinel().str(); }

  TimePoint wake_at() const;

 private:
  void ask_next(TimePoint now);
  void ask(TimePoint now);
  void accept(const Reply& reply, TimePoint now);

  /// How helpful a failure is, in ascending order. What one Sentinel answers says more than the silence of another.
  /// `denied`: a person must mend it.
  enum class Weight { silent, unknown, denied, stale };
  void pass(Weight weight, Failure why, TimePoint now);
  void remember(Weight weight, Failure why);
  const Address& sentinel() const { return target_.addresses[order_[position_]]; }

  Loop& loop_;
  const Target target_;
  const std::shared_ptr<const TlsContext> tls_;
  const Milliseconds share_;
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;  ///< index in order_ of the Sentinel that is being asked, or is next
  bool with_password_ = true;
  bool resp3_ = true;
  std::unique_ptr<Connection> connection_;
  std::shared_ptr<InFlightCall> in_flight_;
  TimePoint deadline_ = kNever;
  std::optional<Failure> refused_;  ///< the asked Sentinel's refusal of our password
  std::optional<Address> found_, disbelieved_;
  Weight weight_ = Weight::silent;
  std::optional<Failure> best_reason_;  ///< the most helpful failure; weight_ is its weight
  std::optional<Failure> failure_;
};

}  // namespace rlock
