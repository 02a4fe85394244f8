#pragma once

#include <string>

#include "support/direct.h"

namespace rlock::test {

/// A waiter that treats the queue of a fair lock like Redisson. It drops dead heads by its own clock. It
/// queues behind the last waiter, with that waiter's deadline plus its own wait. When it acquires the lock or
/// gives up, it subtracts its wait from all deadlines. It was written from the observed behaviour of
/// Redisson, not from Redisson's scripts. The real one is in tests/interop.
class FairPeer {
 public:
  FairPeer(Direct& redis, std::string name, std::string owner, long long wait = 300000, long long skew = 0)
      : redis_(redis), name_(std::move(name)), owner_(std::move(owner)), wait_(wait), skew_(skew) {}

  bool try_once();    ///< tryLock(): it does not queue
  bool try_queued();  ///< one step of lock(): it queues if the lock is busy
  bool unlock();      ///< returns whether it held the lock
  void fail();        ///< the end of a wait that has run out

  const std::string& owner() const noexcept { return owner_; }

 private:
  Reply eval(const char* body);

  Direct& redis_;
  const std::string name_;
  const std::string owner_;
  const long long wait_;
  const long long skew_;  ///< how far its clock is ahead of the server's
};

}  // namespace rlock::test
