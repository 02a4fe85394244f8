#include "support/sentinel_server.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "support/eventually.h"

namespace rlock::test {

SentinelServer::SentinelServer(const std::string& master, const RedisServer& primary,
                               const std::string& more) {
  const std::string conf = directory_ / "sentinel.conf";
  const std::string monitored =
      "sentinel monitor " + master + " 127.0.0.1 " + std::to_string(primary.port()) + " 1\n";
  write_file(conf, "port " + std::to_string(port_) + "\nbind 127.0.0.1\ndir " + directory_.path() +
                       "\nlogfile " + (directory_ / "log") + "\nprotected-mode no\n" + monitored +
                       "sentinel down-after-milliseconds " + master + " 300\nsentinel failover-timeout " +
                       master + " 3000\n" + more);
  const char* named = std::getenv("RLOCK_TEST_SERVER");
  process_ = std::make_unique<Process>(
      Words{named != nullptr && *named != '\0' ? named : "redis-server", conf, "--sentinel"},
      Process::Options{.own_session = true});
  const bool listens = eventually([&] {
    const int fd = connect_to("127.0.0.1:" + std::to_string(port_));
    if (fd >= 0) ::close(fd);
    return fd >= 0 || !process_->running();
  });
  if (!listens || !process_->running())
    throw std::runtime_error{"the sentinel does not start: " + process_->out() +
                             read_file(directory_ / "log")};
}

}  // namespace rlock::test
