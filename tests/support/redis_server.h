#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/cli.h"
#include "support/process.h"
#include "support/resp_client.h"

namespace rlock::test {

/// A Redis server for one test: redis-server, or $RLOCK_TEST_SERVER (valkey-server). It runs in its own
/// folder, on a Unix socket and, if asked, on a TCP port of loopback. It saves nothing unless configured, and
/// ends with the test.
class RedisServer {
 public:
  struct Options {
    bool tcp = false;
    std::vector<std::string> config;  ///< further lines of redis.conf: "appendonly yes"
  };

  RedisServer();
  explicit RedisServer(const Options& options);

  std::string url() const;                               ///< unix:///tmp/.../redis.sock
  std::string tcp_url() const;                           ///< redis://127.0.0.1:port
  std::uint16_t port() const noexcept { return port_; }  ///< 0 without TCP
  std::string socket() const { return directory_ / "redis.sock"; }
  std::string where() const { return "unix:" + socket(); }  ///< for RespClient
  const std::string& directory() const noexcept { return directory_.path(); }
  pid_t pid() const { return process_->pid(); }

  /// Its version as a number for comparisons: 70015 for 7.0.15. For Valkey, the version that it is compatible
  /// with.
  static int version();

  /// Sends a command over a connection that stays open, and returns the answer like RespClient::ask().
  std::string cli(const Words& words);

  bool has(const std::string& key) { return cli({"EXISTS", key}) == "1"; }
  void del(const std::string& key) { cli({"DEL", key}); }
  std::string keys();  ///< all but histories, which stay for a week; sorted, one a line
  long long pttl(const std::string& key) { return std::stoll(cli({"PTTL", key})); }

  /// The number of clients that listen on the channel.
  int listeners(const std::string& channel);

  void freeze();  ///< SIGSTOP; waits until it has stopped
  void thaw();    ///< SIGCONT
  void kill();    ///< SIGKILL; waits until it is gone

  enum class Until { ready, listens };       ///< `listens`: it may still be loading its data
  void restart(Until until = Until::ready);  ///< kill(), then starts it again with the same folder and port

  /// The environment of an rlock that uses this server, without any settings of the user.
  Process::Options environment() const;

  /// Runs rlock with this server as RLOCK_URL: redis.rlock("run", "-k", "k", "--", "true").
  template <class... Arguments>
  Rlock rlock(Arguments&&... arguments) const {
    return Rlock{Words{std::string{std::forward<Arguments>(arguments)}...}, environment()};
  }

 private:
  void start(Until until);
  bool answers(Until until) const;

  TempDir directory_;
  Options options_;
  std::uint16_t port_ = 0;
  std::optional<Process> process_;
  std::unique_ptr<RespClient> client_;
};

/// The commands that a server gets, as MONITOR shows them.
class Monitor {
 public:
  explicit Monitor(const RedisServer& server);

  /// The commands so far, one a line: "EVALSHA" "..." "1" "key". Commands inside scripts are left out.
  const std::vector<std::string>& commands();

 private:
  RespClient client_;
  std::vector<std::string> commands_;
};

/// A TCP port of loopback on which no process listens now. By default no outgoing connection gets such a low number,
/// so none takes it before a server binds it.
std::uint16_t free_port();

}  // namespace rlock::test
