#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/text.h"
#include "support/line_claim.h"
#include "support/redis_server.h"
#include "support/scene.h"
#include "sync/kinds/lock.h"

namespace rlock::test {

/// The line of the lock "deploy".
inline const std::string kLine = "redisson_unlock_latch:{deploy}:line";

/// A claim of an owner that does not wait.
inline Claim leaving(const std::string& owner) {
  Claim claim = waiting(owner);
  claim.if_busy = IfBusy::leave;
  return claim;
}

inline Lock in_cluster(const std::string& owner) {
  Claim claim = waiting(owner);
  claim.pub_sub = PubSub::sharded_too;
  return Lock{claim};
}

/// A server whose locks all have the name "deploy".
struct LineScene : Scene {
  using Scene::ask;
  AcquireAnswer ask(const std::string& owner) { return ask(Lock{waiting(owner)}); }
  Released release(const std::string& owner) { return Scene::release(Lock{waiting(owner)}); }
  std::string line() { return server.cli({"ZRANGE", kLine, "0", "-1"}); }
  std::vector<std::string> known_of(const std::string& owner) {
    return split(server.cli({"HGET", kLine + ":waiters", owner}), ' ');
  }
  /// Moves the time at which `owner` was told back by this many ms.
  void told_earlier(const std::string& owner, std::int64_t ms) {
    std::vector<std::string> fields = known_of(owner);
    fields.at(3) = std::to_string(std::stoll(fields.at(3)) - ms);
    server.cli({"HSET", kLine + ":waiters", owner, joined(fields, " ")});
  }
  /// Moves the time at which `owner` last asked back by this many ms.
  void asked_earlier(const std::string& owner, std::int64_t ms) {
    std::vector<std::string> fields = known_of(owner);
    fields.at(0) = std::to_string(std::stoll(fields.at(0)) - ms);
    server.cli({"HSET", kLine + ":waiters", owner, joined(fields, " ")});
  }
  void passed_ten_times() { server.cli({"HSET", kLine + ":waiters", "", "10 0"}); }
  Listener listener(const std::string& owner) { return {server, Channel{kLockChannel + ":" + owner}}; }
};

}  // namespace rlock::test
