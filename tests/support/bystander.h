#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "support/redis_server.h"

namespace rlock::test {

/// A second client, which sends PING to the server all the time. It shows how long a slow script makes others wait.
class Bystander {
 public:
  explicit Bystander(const RedisServer& server);
  ~Bystander();
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

  /// Waits until the server has answered a PING that was sent after this call.
  void settle() const;

  /// Forgets what the server did until now.
  void forget();

  /// The longest time that the server worked for others while a PING waited, since the last forget(). It is
  /// processor time of the server, so a busy machine does not look like a slow script. Call settle() first.
  std::chrono::milliseconds longest() const;

  /// `alone`: what the work may take on a quiet machine. On a busy one the same work takes more processor time, because
  /// two processors share a core and its caches. Then as much more is allowed as a fixed script takes meanwhile.
  std::chrono::milliseconds allowed(std::chrono::milliseconds alone) const;

 private:
  void ping(const std::string& where);

  const std::string clock_;  ///< the file with the processor time of the server
  std::atomic<std::size_t> pings_ = 0;
  mutable std::mutex mutex_;           ///< for the next two
  long long longest_ = 0;              ///< nanoseconds
  std::vector<long long> yardsticks_;  ///< the processor time of the fixed script, each time, in nanoseconds
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace rlock::test
