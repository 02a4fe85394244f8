#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "redis/connection_number.h"
#include "redis/route/route.h"

namespace rlock {

/// One node of an Executor, as the calls to it see it.
struct Node {
  /// An answered call whose followers may still wait for their answers.
  struct Followed {
    ConnectionNumber connection;
    std::shared_ptr<InFlightCall> in_flight;
  };

  std::unique_ptr<Route> route;
  std::optional<Failure> trouble{};  ///< why the newest attempt failed; empty: it did not
  std::vector<Followed> followed{};

  /// May replies to the followers of this call still come?
  bool in_flight(const Followed& call) const {
    const Connection* connection = route->find(call.connection);
    return call.in_flight->followers_left > 0 && connection != nullptr && !connection->failure();
  }
};

}  // namespace rlock
