#include "redis/redis.h"

#include <fmt/format.h>

#include <algorithm>

#include "redis/enough.h"
#include "redis/quorum.h"

namespace rlock {
namespace {

/// await_followers() waits at most this long.
constexpr Milliseconds kFollowers{200};

}  // namespace

std::string Redis::named(std::size_t node, const std::string& text) const {
  return nodes() == 1 ? text : fmt::format("{}: {}", str(node), text);
}

void Redis::await_followers(const Patience& patience) const {
  const TimePoint until = earliest(patience.until, plus(loop().now(), kFollowers));
  loop().wait({until, patience.interrupted}, [this] { return !has_followers_in_flight(); });
}

void Redis::await(const std::vector<Request>& requests, Milliseconds grace, const Patience& patience) const {
  Enough enough{grace};
  const auto by_quorum = [&](const Request& request) { return answered_by(quorum(), request.votes()); };
  while (!std::ranges::all_of(requests, &Request::settled)) {
    const TimePoint now = loop().now();
    const TimePoint until =
        earliest(patience.until, enough.from(std::ranges::all_of(requests, by_quorum), now));
    if (now >= until || patience.interrupted()) return;
    loop().turn(until);
  }
}

}  // namespace rlock
