#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "support/redis_server.h"

namespace rlock::test {

/// A second client, which sends PING to the server all the time. It shows how long a slow script makes others wait.
class Bystander {
 public:
  explicit Bystander(const RedisServer& server);
  ~Bystander();
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

  /// The longest time that the server worked for others while a PING waited. It is processor time of the
  /// server, so a busy machine does not look like a slow script.
  std::chrono::milliseconds longest() const { return std::chrono::milliseconds{longest_.load() / 1'000'000}; }

  std::size_t pings() const { return pings_; }

 private:
  void ping(const std::string& where);

  const std::string clock_;  ///< the file with the processor time of the server
  std::atomic<long long> longest_ = 0;
  std::atomic<std::size_t> pings_ = 0;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace rlock::test
