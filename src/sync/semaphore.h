#pragma once

#include "sync/lockable.h"
#include "sync/pub_sub.h"

namespace rlock {

/// Taking permits of Redisson's RSemaphore. Nobody knows who has them: a process that dies takes them along,
/// and only Pool::add gives them back. One Semaphore is one request: it takes once, however often it is sent.
class Semaphore final : public Waitable {
 public:
  Semaphore(LockName name, std::int64_t count, PubSub pub_sub);

  using Waitable::ask;
  Call ask(Milliseconds waited) const override;

  /// After this the request takes nothing any more, also when a copy of it arrives late.
  std::optional<Call> undo(Wake wake) const override;
  /// As if it did: a late copy of the call would take permits that nobody gives back.
  bool queues() const override { return true; }

  std::vector<Channel> channels() const override;
  const LockName& name() const override { return name_; }

 private:
  Attempt decode(const Reply& reply) const override;

  LockName name_;
  std::int64_t count_;
  PubSub pub_sub_;
  std::string request_;
};

}  // namespace rlock
