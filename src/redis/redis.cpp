#include "redis/redis.h"

#include "redis/enough.h"
#include "redis/mailbox.h"

namespace rlock {
namespace {

/// How long the end of the process waits for the replies to followers.
constexpr Milliseconds kFollowers{200};

}  // namespace

void Redis::await_followers(const Patience& patience) const {
  const TimePoint until = earliest(patience.until, plus(Clock::now(), kFollowers));
  while (has_followers_in_flight() && Clock::now() < until && !patience.interrupted()) loop().turn(until);
}

void Redis::distribute() {
  for (const Message& message : take_messages())
    for (Mailbox* mailbox : mailboxes_) mailbox->put(message);
}

Reply Redis::ask(const Call& call, const Patience& patience) {
  const Votes votes = run(call, persistently(), patience, Enough{1, Milliseconds{0}});
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
