#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "support/fake_redis.h"
#include "support/redis_server.h"

namespace rlock::test {

/// A server that passes each script on to a real one and its answer back, and says something else where it
/// was told to. What belongs to a connection (greeting, subscriptions) it answers by itself.
class Relay {
 public:
  explicit Relay(const RedisServer& server);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::string url() const { return front_.url(); }

  /// From now on this is said instead of the answer to `name`: "lock/release",
  /// a script; "WAIT", a command. `times`: only to the first so many.
  void say_instead(const std::string& name, std::string bytes, int times = 1 << 30);

  /// Answers are what they are again.
  void tell_the_truth();

  /// What was asked since the last forget_asked(), each name once.
  std::set<std::string> asked() const;
  std::set<std::string> forget_asked();

  FakeRedis& front() { return front_; }

 private:
  struct Lie {
    std::string bytes;
    int times;
  };
  std::optional<std::string> answer(const Words& command);
  std::string ask_server(const Words& command);

  mutable std::mutex mutex_;
  std::map<std::string, Lie> lies_;
  std::set<std::string> asked_;
  int server_;
  FakeRedis front_;
};

}  // namespace rlock::test
