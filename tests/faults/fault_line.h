#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "support/cli.h"
#include "support/eventually.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/tcp_proxy.h"
#include "support/witness.h"

namespace rlock::test {

using Way = TcpProxy::Way;

/// A server, and an rlock that reaches it only through a proxy which can be told to misbehave.
struct FaultLine {
  explicit FaultLine(const std::vector<std::string>& config = {}) : redis{{.config = config}} {}

  RedisServer redis;
  TcpProxy proxy{redis.where()};
  TempDir folder;

  /// rlock with the proxy as its server.
  Rlock rlock(Words arguments) const;

  /// rlock run -k k with `options`, and the witness as its command.
  Rlock hold(Words options, const std::string& how = "") const;

  /// Is the witness inside, as it says itself?
  bool inside() const;

  Verdict verdict() const { return judge(folder.path()); }

  /// Everything is as it was before anybody came: no lock, nobody listening. Metadata may stay until its TTL.
  /// The server sees the end of a connection a little later than rlock ends.
  bool clean();
};

/// "k" is held by exactly one owner with this count.
bool held(RedisServer& redis, long long count = 1);

/// One line of the table that a run of these tests prints: fault, outcome, exit status, time.
void report(const std::string& fault, const std::string& outcome, int status, std::chrono::milliseconds time);

/// A time that was promised: exact in the long profile, which
/// has the machine for itself; else with some to spare.
std::chrono::milliseconds promised(std::chrono::milliseconds time);

/// A thread that does something again and again until its end.
class Again {
 public:
  Again(std::chrono::milliseconds every, std::function<void()> deed);
  ~Again();
  Again(const Again&) = delete;
  Again& operator=(const Again&) = delete;

 private:
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace rlock::test
