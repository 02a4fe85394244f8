#include "redis/redis.h"

#include "redis/grace.h"

namespace rlock {

Reply Redis::ask(const Call& call, const Patience& patience) {
  const Votes votes = run(call, persistently(), patience, [](const Votes& so_far, TimePoint) {
    return answered_by(1, so_far) ? TimePoint::min() : kNever;
  });
  std::optional<Failure> failure;
  for (const Vote& vote : votes) {
    if (const Reply* reply = vote.good_reply()) return *reply;
    if (vote.reply) failure = failure_of(*vote.reply);
    if (vote.failure) failure = vote.failure;
  }
  if (!failure) failure = Failure{Error::unreachable, "interrupted"};
  failure->fly();
}

}  // namespace rlock
