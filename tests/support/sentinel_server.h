#pragma once

#include <signal.h>

#include <memory>
#include <string>

#include "support/process.h"
#include "support/redis_server.h"

namespace rlock::test {

/// A real Sentinel. It is the only one that watches its primary, so its own vote is enough for a failover.
class SentinelServer {
 public:
  SentinelServer(const std::string& master, const RedisServer& primary, const std::string& more = {});

  std::uint16_t port() const noexcept { return port_; }
  std::string ask(const Words& words) const {
    return RespClient{"127.0.0.1:" + std::to_string(port_)}.ask(words);
  }
  void freeze() const { process_->signal(SIGSTOP); }
  void thaw() const { process_->signal(SIGCONT); }

 private:
  TempDir directory_;
  std::uint16_t port_ = free_port();
  std::unique_ptr<Process> process_;
};

}  // namespace rlock::test
