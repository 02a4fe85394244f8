#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "support/redis_server.h"

namespace rlock::test {

/// Another client of a server, which says PING all the time: does the server keep it waiting?
class Bystander {
 public:
  explicit Bystander(const RedisServer& server);
  ~Bystander();
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

  /// How long the server worked for others while a PING waited, the longest: in processor time of the server,
  /// so that a busy machine is not taken for a slow script.
  std::chrono::milliseconds longest() const { return std::chrono::milliseconds{longest_.load() / 1'000'000}; }

  std::size_t pings() const { return pings_; }

 private:
  void ping(const std::string& where);

  const std::string clock_;  ///< the file in which the kernel says how long the server has worked
  std::atomic<long long> longest_ = 0;
  std::atomic<std::size_t> pings_ = 0;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace rlock::test
