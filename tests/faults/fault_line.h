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

/// A server, and an rlock that reaches the server only through a proxy. The proxy can be told to misbehave.
struct FaultLine {
  explicit FaultLine(const std::vector<std::string>& config = {}) : redis{{.config = config}} {}

  RedisServer redis;
  TcpProxy proxy{redis.where()};
  TempDir folder;

  /// Starts rlock with the proxy as its server.
  Rlock rlock(Words arguments) const;

  /// Starts rlock run -k k with `options`, and the witness as its command.
  Rlock hold(Words options, const std::string& how = "") const;

  /// True: the witness has reported that it is inside.
  bool inside() const;

  Verdict verdict() const { return judge(folder.path()); }

  /// True: nothing is left of any run, neither a lock nor a listener. Metadata may stay until their TTL. The
  /// server sees the end of a connection a little later than rlock ends.
  bool clean();
};

/// True: exactly one owner holds "k", with this count.
bool held(RedisServer& redis, long long count = 1);

/// Prints one line of these tests' table: fault, outcome, exit status, time.
void report(const std::string& fault, const std::string& outcome, int status, std::chrono::milliseconds time);

/// The limit at which a test checks a promised time. The long profile has the machine for itself, and checks the
/// exact time; the short profile allows some more.
std::chrono::milliseconds promised(std::chrono::milliseconds time);

/// A thread that repeats a deed until the object is destroyed.
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
