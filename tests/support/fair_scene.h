#pragma once

#include <string>

#include "base/text.h"
#include "support/eventually.h"
#include "support/fair_peer.h"
#include "support/scene.h"
#include "sync/kinds/fair.h"

namespace rlock::test {

inline const std::string kQueue = "redisson_lock_queue:{deploy}";
inline const std::string kDeadlines = "redisson_lock_timeout:{deploy}";
inline const std::string kWaiters = "redisson_unlock_latch:{deploy}:waiters";
inline const std::string kChannel = "redisson_lock__channel:{deploy}:";

/// A server with the fair lock "deploy", and calls for it.
struct FairScene : Scene {
  using Scene::ask;
  AcquireAnswer ask(const std::string& owner) { return ask(FairLock{claim(owner)}); }
  Released release(const std::string& owner) { return Scene::release(FairLock{claim(owner)}); }
  void undo(const std::string& owner) { Scene::undo(FairLock{claim(owner)}); }
  FairPeer peer(const std::string& owner, long long wait = 300000) { return {redis, "deploy", owner, wait}; }

  Words queue() { return lines({"LRANGE", kQueue, "0", "-1"}); }
  Words members() { return lines({"ZRANGE", kDeadlines, "0", "-1"}); }
  long long now() { return std::stoll(lines({"TIME"}).front()) * 1000; }
  long long deadline_in(const std::string& owner) {
    return std::stoll(server.cli({"ZSCORE", kDeadlines, owner})) - now();
  }
  Words lines(const Words& command) {
    const std::string text = server.cli(command);
    return text.empty() ? Words{} : split(text, '\n');
  }
};

}  // namespace rlock::test
