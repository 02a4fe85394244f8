// --syslog: the run's events as datagrams; and no log can hold up the run. The logs are sockets of the test.

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <regex>
#include <string>
#include <tuple>
#include <vector>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;

namespace {

using namespace std::chrono_literals;

/// A log daemon that reads only when the test calls take().
class Log {
 public:
  explicit Log(std::string path) : path_(std::move(path)) { listen(); }
  ~Log() { ::close(fd_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Makes the socket anew, as a daemon does that is started again.
  void restart() {
    ::close(fd_);
    ::unlink(path_.c_str());
    listen();
  }

  /// The datagrams since the last call.
  std::vector<std::string> take() {
    std::vector<std::string> all;
    std::string datagram(1 << 18, '\0');
    for (ssize_t size = 0; (size = ::recv(fd_, datagram.data(), datagram.size(), MSG_DONTWAIT)) >= 0;)
      all.push_back(datagram.substr(0, static_cast<std::size_t>(size)));
    return all;
  }

  /// Fills the socket. One sender's unread data has a limit, too, so further senders follow.
  void fill() {
    for (int sent = 1; sent > 0;) {
      const int sender = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      const sockaddr_un name = address();
      REQUIRE(::connect(sender, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
      for (sent = 0; ::send(sender, "full", 4, MSG_DONTWAIT) == 4;) ++sent;
      CHECK(errno == EAGAIN);
      ::close(sender);
    }
  }

 private:
  sockaddr_un address() const {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path_.copy(name.sun_path, sizeof name.sun_path - 1);
    return name;
  }

  void listen() {
    fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const sockaddr_un name = address();
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  }

  std::string path_;
  int fd_ = -1;
};

/// The texts behind "rlock[4711]: ".
std::vector<std::string> texts(const std::vector<std::string>& datagrams) {
  std::vector<std::string> all;
  for (const std::string& datagram : datagrams) all.push_back(datagram.substr(datagram.find("]: ") + 3));
  return all;
}

}  // namespace

TEST_CASE("a syslog daemon gets each event on one line, with any key; also with -q") {
  RedisServer redis;
  TempDir folder;
  Log log{folder / "log"};
  const std::string key = "de\"p\nloy\x1b";
  Rlock run = redis.rlock("run", "-q", "--syslog=" + folder / "log", "-k", key, "-k", "b", "--", "false");
  CHECK(run.exit_code() == 1);
  CHECK(run.err().empty());

  const std::vector<std::string> datagrams = log.take();
  REQUIRE(datagrams.size() == 2);
  const std::regex format{R"(<14>[A-Z][a-z]{2} [ 1-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9] rlock\[)" +
                          std::to_string(run.pid()) + R"(\]: [ -~]+)"};
  for (const std::string& datagram : datagrams) CHECK_MESSAGE(std::regex_match(datagram, format), datagram);
  const std::string keys = R"(key="b" key="de\"p\nloy\u001b")";
  CHECK_MESSAGE(texts(datagrams)[0].starts_with("event=acquired " + keys + " owner=\""), texts(datagrams)[0]);
  CHECK_MESSAGE(
      texts(datagrams)[1].starts_with("event=released " + keys + R"( outcome="ran" exit=1 held_ms=)"),
      texts(datagrams)[1]);
}

TEST_CASE("a journal gets each field by a name of its own, and the key byte for byte") {
  RedisServer redis;
  TempDir folder;
  std::filesystem::create_directory(folder / "journal");
  Log journal{folder / "journal/socket"};
  const std::string socket = "--syslog=" + folder / "journal/socket";
  CHECK(status_of(redis, {"run", "-q", socket, "--fenced", "-k", "two\nlines", "--", "true"}) == 0);
  const std::vector<std::string> entries = journal.take();
  REQUIRE(entries.size() == 2);
  const auto has = [](const std::string& entry, const std::string& field) {
    CHECK_MESSAGE(contains("\n" + entry, "\n" + field + "\n"), entry);
  };
  has(entries[0], "SYSLOG_IDENTIFIER=rlock");
  has(entries[0], "PRIORITY=6");
  has(entries[0], "RLOCK_EVENT=acquired");
  has(entries[0], "RLOCK_FENCE=1");
  has(entries[0], "RLOCK_KEY\n" + std::string{"\x09\0\0\0\0\0\0\0", 8} + "two\nlines");
  has(entries[1], "RLOCK_EVENT=released");
  has(entries[1], "RLOCK_OUTCOME=ran");
  CHECK(status_of(redis, {"flock", socket, "--max-hold", "100ms", "/srv/data", "sleep", "60"}) == 124);
  const std::vector<std::string> of_flock = journal.take();
  REQUIRE(of_flock.size() == 3);
  has(of_flock[1], "RLOCK_WHY=--max-hold is over");
  has(of_flock[1], "RLOCK_KEY=/srv/data");
  has(of_flock[1], "PRIORITY=5");
}

TEST_CASE("an unread log delays neither the renewals nor the stop, and learns how much it has missed") {
  RedisServer redis;
  TempDir folder;
  Log log{folder / "log"};
  log.fill();
  Rlock run =
      redis.rlock("run", "-q", "--syslog=" + folder / "log", "--lease", "3s", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("k"); }));
  CHECK(throughout([&] { return redis.pttl("k") > 0; }, 7s));  // more than two leases
  redis.del("k");
  CHECK(run.exit_code(10s) == 125);
  CHECK(log.take().back() == "full");

  log.fill();
  // The command starts after the event "acquired" was sent, or could not be sent.
  Rlock next = redis.rlock("run", "-q", "--syslog=" + folder / "log", "-k", "k2", "--", "sh", "-c",
                           "echo on >" + folder / "on" + "; exec sleep 60");
  REQUIRE(eventually([&] { return read_file(folder / "on") == "on\n"; }));
  CHECK(log.take().back() == "full");
  next.signal(SIGTERM);
  CHECK(next.exit_code() == 128 + SIGTERM);
  const std::vector<std::string> rest = texts(log.take());
  REQUIRE(rest.size() == 1);
  CHECK_MESSAGE(rest[0].starts_with("event=released key=\"k2\""), rest[0]);
  CHECK_MESSAGE(rest[0].ends_with(" dropped=1"), rest[0]);
}

TEST_CASE("a log daemon that is started again is found again; a loss is an error, and trouble a warning") {
  RedisServer redis;
  TempDir folder;
  Log log{folder / "log"};
  Rlock run = redis.rlock("run", "-q", "--syslog=" + folder / "log", "--lease", "6s", "-k", "k", "--", "sh",
                          "-c", "echo on >" + folder / "on" + "; exec sleep 60");
  REQUIRE(eventually([&] { return read_file(folder / "on") == "on\n"; }));  // the event "acquired" was sent
                                                                            // before
  log.restart();
  redis.freeze();
  std::vector<std::string> got;
  const auto come = [&](std::size_t count) {
    for (std::string& datagram : log.take()) got.push_back(std::move(datagram));
    return got.size() >= count;
  };
  REQUIRE(eventually([&] { return come(1); }, 10s));
  redis.thaw();
  REQUIRE(eventually([&] { return come(2); }, 10s));
  redis.del("k");
  CHECK(run.exit_code(20s) == 125);
  CHECK(come(5));
  REQUIRE(got.size() == 5);
  for (const auto& [index, priority, event] :
       {std::tuple{0, "<12>", "trouble"}, std::tuple{1, "<13>", "recovered"}, std::tuple{2, "<11>", "lost"},
        std::tuple{3, "<13>", "stopping"}, std::tuple{4, "<14>", "ended"}}) {
    const std::string& datagram = got[static_cast<std::size_t>(index)];
    CHECK_MESSAGE(datagram.starts_with(priority), datagram);
    CHECK_MESSAGE(contains(datagram, "]: event=" + std::string{event} + " key=\"k\""), datagram);
  }
}

TEST_CASE("the keeper of a script goes on in the log, also when the daemon was started again") {
  RedisServer redis;
  TempDir folder;
  Log log{folder / "log"};
  Process::Options options = redis.environment();
  Process script{{"sh", "-c",
                  "owner=$(" + rlock_binary() + " lock acquire k --while-pid $$ --syslog=" + folder / "log" +
                      ") || exit; echo on >" + folder / "on" + "; sleep 60"},
                 options};
  REQUIRE(eventually([&] { return read_file(folder / "on") == "on\n"; }, 10s));
  const std::string name = "rlock[" + std::to_string(script.pid()) + "]: event=";
  const std::vector<std::string> before = log.take();
  REQUIRE(before.size() == 1);
  CHECK_MESSAGE(contains(before[0], name + "acquired key=\"k\""), before[0]);
  log.restart();
  script.signal(SIGTERM);
  CHECK(script.exit_code() == 128 + SIGTERM);
  std::vector<std::string> after;
  REQUIRE(eventually([&] { return !(after = log.take()).empty(); }, 10s));
  REQUIRE(after.size() == 1);
  CHECK_MESSAGE(contains(after[0], name + "released key=\"k\" outcome=\"released\" held_ms="), after[0]);
}

TEST_CASE("without a log rlock reports that once and goes on") {
  RedisServer redis;
  TempDir folder;
  Rlock run = redis.rlock("run", "-q", "--syslog=" + folder / "none", "-k", "k", "--", "true");
  CHECK(run.exit_code() == 0);
  CHECK(run.err() == "rlock: --syslog: cannot write to '" + folder / "none" +
                         "': No such file or directory; rlock goes on without it\n");
  CHECK(status_of(redis, {"run", "--syslog=", "-k", "k", "--", "true"}) == 64);
}
