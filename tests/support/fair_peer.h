#pragma once

#include <string>

#include "support/direct.h"

namespace rlock::test {

/// A waiter that treats the queue of a fair lock as Redisson does: it drops heads, and no others, by the time
/// it believes in, queues behind the last with that one's deadline and its own wait on top, and lets all
/// others be forgotten earlier by its wait when it takes the lock or gives up. Written after what Redisson
/// was seen to do, not from its scripts; the real one is in tests/interop.
class FairPeer {
 public:
  FairPeer(Direct& redis, std::string name, std::string owner, long long wait = 300000, long long skew = 0)
      : redis_(redis), name_(std::move(name)), owner_(std::move(owner)), wait_(wait), skew_(skew) {}

  bool try_once();    ///< tryLock(): never queues
  bool try_queued();  ///< one step of lock(): queues when it fails
  bool unlock();      ///< was it ours?
  void fail();        ///< what a wait that has run out does

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
