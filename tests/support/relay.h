#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "support/fake_redis.h"
#include "support/redis_server.h"

namespace rlock::test {

/// A server that passes calls on to a real server, and returns the real answer or, if told to, another one. It
/// answers greetings and subscriptions itself, because they belong to a connection.
class Relay {
 public:
  explicit Relay(const RedisServer& server);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::string url() const { return front_.url(); }

  /// Sends these bytes instead of the answer to `name`: a script such as "lock/release", or a command such as
  /// "WAIT". After this has happened `times` times, it sends the real answers again.
  void say_instead(const std::string& name, std::string bytes, int times = 1 << 30);

  /// Sends the real answers again.
  void tell_the_truth();

  /// The names of the calls since the last forget_asked(), each once.
  std::set<std::string> asked() const;
  std::set<std::string> forget_asked();

  FakeRedis& front() { return front_; }

 private:
  struct Lie {
    std::string bytes;
    int times;
  };
  std::optional<std::string> answer(const Words& command);
  std::string ask_server(const Words& command) const;

  mutable std::mutex mutex_;
  std::map<std::string, Lie> lies_;
  std::set<std::string> asked_;
  int server_;
  FakeRedis front_;
};

}  // namespace rlock::test
