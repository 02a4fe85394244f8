#include "redis/redis.h"

#include <algorithm>

namespace rlock {

Reply Redis::ask(const Call& call, const Patience& patience) {
  const Votes votes = run(call, patience, Insist::persist, [](const Votes& so_far) {
    const bool answered =
        std::ranges::any_of(so_far, [](const Vote& vote) { return vote.answer() != nullptr; });
    return answered ? TimePoint::min() : kNever;
  });
  std::optional<Failure> failure;
  for (const Vote& vote : votes) {
    if (const Reply* reply = vote.answer()) return *reply;
    if (vote.reply) failure = failure_of(*vote.reply);
    if (vote.failure) failure = vote.failure;
  }
  if (!failure) failure = Failure{Error::unreachable, "interrupted"};
  failure->fly();
}

}  // namespace rlock
