#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "redis/connection/link.h"
#include "redis/connection_number.h"
#include "redis/route/slots.h"

namespace rlock {

/// Asks nodes of a Cluster, one after the other, which node serves which slots. Each gets its share of the time.
///
/// It is passive: its owner calls begin(), and advance() after a turn of the loop.
class SlotSearch {
 public:
  /// `share`: the time for one node. `tls`: do the links use TLS?
  SlotSearch(Milliseconds share, bool tls) : share_(share), tls_(tls) {}

  /// Starts again with these nodes. The last one is asked first. REQUIRES: the links live while the search goes on.
  void begin(std::vector<Link*> to_ask, TimePoint now);

  void advance(TimePoint now);

  bool going_on() const noexcept { return asked_ != nullptr; }

  /// Of the search that has ended: at most one is set. The owner may move the map away.
  std::optional<SlotMap>& found() noexcept { return found_; }
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  TimePoint wake_at() const;

 private:
  void ask_next(TimePoint now);
  void ask(Connection& connection);
  void accept(const Reply& reply, TimePoint now);
  void pass(Failure why, TimePoint now);
  void remember(Failure why);

  const Milliseconds share_;
  const bool tls_;
  std::vector<Link*> to_ask_;
  Link* asked_ = nullptr;  ///< null: the search has ended
  ConnectionNumber connection_ = ConnectionNumber::none;
  std::shared_ptr<InFlightCall> in_flight_;
  TimePoint deadline_ = kNever;
  std::optional<Failure> best_reason_;  ///< the most helpful failure so far
  std::optional<SlotMap> found_;
  std::optional<Failure> failure_;
};

}  // namespace rlock
