#include "redis/redis.h"

#include "redis/enough.h"

namespace rlock {
namespace {

/// await_followers() waits at most this long.
constexpr Milliseconds kFollowers{200};

}  // namespace

void Redis::await_followers(const Patience& patience) const {
  const TimePoint until = earliest(patience.until, plus(loop().now(), kFollowers));
  loop().wait({until, patience.interrupted}, [this] { return !has_followers_in_flight(); });
}

Reply Redis::ask(const Call& call, const Patience& patience) {
  const Votes votes = run(call, with_retries(), patience, Enough{1, Milliseconds{0}});
  Failure failure{Error::unreachable, "interrupted"};
  for (const Vote& vote : votes) {
    if (const Reply* reply = vote.good_reply()) return *reply;
    failure = vote.trouble().value_or(failure);
  }
  failure.fly();
}

}  // namespace rlock
