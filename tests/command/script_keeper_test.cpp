// rlock lock acquire --while-pid: a keeper renews the lock for a script that cannot wrap its commands.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

#include "base/ancestry.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "cmd/hold/script_keeper.h"
#include "cmd/hold/script_watch.h"
#include "cmd/server/deployment.h"
#include "support/contains.h"
#include "support/event_lines.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/resp_client.h"
#include "support/skipped.h"
#include "support/tcp_proxy.h"
#include "support/witness.h"

using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

using Span = std::chrono::milliseconds;

/// A script that finds rlock in $RLOCK; the test can find the script's keeper and guardian.
class Script {
 public:
  Script(const RedisServer& redis, const std::string& text, const Words& more = {}) {
    write_file(folder_ / "script.sh", "#!/bin/sh\n" + text);
    Process::Options options = redis.environment();
    options.env["RLOCK"] = rlock_binary();
    options.env["FOLDER"] = folder_.path();
    Words words{"sh", folder_ / "script.sh"};
    words.insert(words.end(), more.begin(), more.end());
    process_.emplace(words, options);
  }

  Process& process() { return *process_; }
  std::string file(const std::string& name) { return read_file(folder_ / name); }
  const std::string& folder() const { return folder_.path(); }

  /// The keeper: among the script's descendants, the process whose command line contains --while-pid.
  pid_t keeper() { return find(false); }
  pid_t guardian() { return find(true); }

 private:
  pid_t find(bool guardian) {
    for (const pid_t pid : process_->family()) {
      const std::string name = read_file(fmt::format("/proc/{}/comm", pid));
      const std::string words = read_file(fmt::format("/proc/{}/cmdline", pid));
      if (guardian ? name == "guardian\n" : name == "rlock\n" && contains(words, "--while-pid")) return pid;
    }
    return 0;
  }

  TempDir folder_;
  std::optional<Process> process_;
};

std::string figures(std::vector<Span>& times) {
  std::ranges::sort(times);
  return fmt::format("median {} ms, longest {} ms of {}", times[times.size() / 2].count(),
                     times.back().count(), times.size());
}

}  // namespace

TEST_CASE("a keeper renews while the script goes on, and gives back when it has ended") {
  RedisServer redis;
  Script script{redis,
                "mkfifo $FOLDER/go\nowner=$(\"$RLOCK\" lock acquire k --lease 1s --while-pid $$) || exit\n"
                "echo $owner >$FOLDER/owner\nread -r line <$FOLDER/go\n"};
  REQUIRE(eventually([&] { return !script.file("owner").empty(); }, 10s));
  Monitor monitor{redis};
  CHECK(throughout([&] { return redis.has("k"); }, 2500ms));
  // The keeper asks only after a loss, or a message, whether the owner has released the lock.
  for (const std::string& command : monitor.commands()) CHECK_FALSE(command.starts_with("\"GET\""));
  Rlock inspect = redis.rlock("inspect", "k");
  CHECK(inspect.exit_code() == 0);
  CHECK(contains(inspect.out(), fmt::format("pid {} (script.sh)", script.process().pid())));
  CHECK(contains(inspect.out(), "if the holder is dead"));
  CHECK(status_of(redis, {"run", "-qn", "-k", "k", "--", "true"}) == 75);
  write_file(script.folder() + "/go", "go\n");
  CHECK(script.process().exit_code() == 0);
  CHECK(eventually([&] { return !redis.has("k"); }, 5s));
  CHECK(eventually([&] { return script.process().family().empty(); }, 5s));
  CHECK(redis.keys().empty());
}

TEST_CASE(
    "$(...) returns at once, also with 2>&1, and ^C of the script's terminal does not reach the keeper") {
  RedisServer redis;
  for (const std::string more : {"", " 2>&1"}) {
    CAPTURE(more);
    Script script{redis, "owner=$(\"$RLOCK\" lock acquire k --while-pid $$" + more +
                             ") || exit\n[ -n \"$owner\" ] || exit 9\n: >$FOLDER/on\nexec sleep 60\n"};
    REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
    REQUIRE(script.keeper() > 0);
    CHECK(::getsid(script.keeper()) == script.keeper());
    script.process().signal(SIGTERM);
    CHECK(script.process().exit_code() == 128 + SIGTERM);
    CHECK(eventually([&] { return !redis.has("k"); }, 5s));
  }
}

TEST_CASE("a keeper has the password, too, if acquire has read it from a pipe") {
  RedisServer redis{{.config = {"requirepass pw"}}};
  RespClient client{redis.where()};
  REQUIRE(client.ask({"AUTH", "pw"}) == "OK");
  Script script{
      redis,
      "mkfifo $FOLDER/go\necho pw | \"$RLOCK\" lock acquire k --lease 6s --while-pid $$ --password-file "
      "/dev/stdin || exit 9\nread -r line <$FOLDER/go\nexit 7\n"};
  long long rest = 6000;
  const auto renewed = [&] {
    const long long before = std::exchange(rest, std::stoll(client.ask({"PTTL", "k"})));
    return before > 0 && rest > before;
  };
  CHECK(eventually(renewed, 20s));
  write_file(script.folder() + "/go", "go\n");
  CHECK(script.process().exit_code(20s) == 7);
  CHECK_MESSAGE(script.process().err().empty(), script.process().err());
}

TEST_CASE("who reads the stderr of acquire waits only for acquire") {
  RedisServer redis;
  for (const std::string out : {">$FOLDER/owner", ""}) {
    CAPTURE(out);
    Script script{redis, "\"$RLOCK\" lock acquire k --while-pid $$ 2>&1 " + out +
                             " | cat >$FOLDER/read\n: >$FOLDER/on\nexec sleep 60\n"};
    REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
    CHECK(script.keeper() > 0);
    script.process().signal(SIGTERM);
    CHECK(script.process().exit_code() == 128 + SIGTERM);
    CHECK(eventually([&] { return !redis.has("k"); }, 5s));
  }
}

TEST_CASE("a script that reads its own stderr through a pipe gets the keeper's messages, too") {
  RedisServer redis;
  for (const std::string out : {"owner=$(\"$RLOCK\"", "exec 1>&2; (\"$RLOCK\""}) {
    CAPTURE(out);
    Script script{redis, "mkfifo $FOLDER/pipe\ncat $FOLDER/pipe >$FOLDER/read &\nexec 2>$FOLDER/pipe\n" +
                             out +
                             " lock acquire k --lease 2s --on-lost warn --while-pid $$) || exit\n"
                             ": >$FOLDER/on\nexec sleep 60\n"};
    REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
    redis.del("k");
    CHECK(eventually([&] { return contains(script.file("read"), "lost 'k': "); }, 10s));
    script.process().signal(SIGTERM);
    CHECK(script.process().exit_code() == 128 + SIGTERM);
  }
}

TEST_CASE("lock release by the owner ends the keeper, and the script goes on") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced", "read", "write", "plain"}) {
    CAPTURE(type);
    Script script{redis, "owner=$(\"$RLOCK\" lock acquire k --type " + type +
                             " --while-pid $$) || exit\n\"$RLOCK\" lock release k --owner $owner || exit 8\n"
                             ": >$FOLDER/on\nsleep 0.7\nexit 7\n"};
    REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
    CHECK_FALSE(redis.has("k"));
    CHECK(eventually([&] { return script.keeper() == 0; }, 5s));
    CHECK(script.process().exit_code() == 7);
    CHECK(script.process().err().empty());
  }
}

TEST_CASE("a keeper does not take an earlier release of the same --owner for that of its own hold") {
  RedisServer redis;
  const std::string acquire = "\"$RLOCK\" lock acquire k --owner w1 --while-pid $$ --lease 3s || exit 9\n";
  Script script{redis, acquire + "\"$RLOCK\" lock release k --owner w1 || exit 8\n" + acquire +
                           ": >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  redis.cli({"DEL", "k"});
  CHECK(script.process().exit_code(20s) == 128 + SIGTERM);
}

TEST_CASE("a keeper that could not learn of an earlier release does not take it for that of its own hold") {
  RedisServer redis;
  const std::string acquire = "\"$RLOCK\" lock acquire k --owner w1 --while-pid $$ --lease 3s || exit 9\n";
  CHECK(status_of(redis, {"lock", "acquire", "k", "--owner", "w1", "--lease", "1m"}) == 0);
  redis.cli({"SET", "redisson_unlock_latch:{k}:released:w1:number", "1"});
  redis.cli({"DEL", "k"});
  redis.cli({"ACL", "SETUSER", "default", "resetkeys", "~k", "~rlock:*", "~redisson_lock*",
             "~redisson_unlock_latch:{k}:[0-9a-f]*", "~redisson_unlock_latch:{k}:of:*",
             "~redisson_unlock_latch:{k}:line*"});
  Script script{redis, acquire + ": >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 20s));
  redis.cli({"ACL", "SETUSER", "default", "~*"});
  redis.cli({"DEL", "k"});
  CHECK(script.process().exit_code(20s) == 128 + SIGTERM);
}

TEST_CASE("a keeper says that it could not wake the waiters, as a run does") {
  RedisServer redis;
  if (RedisServer::version() < 60200) return skipped("Redis before 6.2 has no channel permissions");
  redis.cli({"ACL", "SETUSER", "mute", "on", ">pw", "~*", "resetchannels", "+@all"});
  Script script{redis, "RLOCK_URL=unix://mute:pw@" + redis.socket() +
                           " \"$RLOCK\" lock acquire k --while-pid $$ >$FOLDER/owner || exit\n"};
  CHECK(script.process().exit_code() == 0);
  CHECK(eventually([&] { return contains(script.process().err(), "could not wake up its waiters"); }, 10s));
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("a keeper renews for an --owner, too") {
  RedisServer redis;
  Script script{
      redis, "\"$RLOCK\" lock acquire k --owner w1 --lease 1s --while-pid $$ || exit 9\nsleep 1.2\nexit 7\n"};
  CHECK(script.process().exit_code() == 7);
  CHECK_MESSAGE(script.process().err().empty(), script.process().err());
  CHECK(eventually([&] { return !redis.has("k"); }, 5s));
}

TEST_CASE("the keeper of the second hold of an --owner notices its release as that of the first") {
  RedisServer redis;
  const std::string section =
      "\"$RLOCK\" lock acquire k --owner w1 --while-pid $$ --lease 2s || exit 9\n"
      "\"$RLOCK\" lock release k --owner w1 || exit 8\n";
  Script script{redis, "mkfifo $FOLDER/go\n" + section + section + section +
                           ": >$FOLDER/on\nread -r line <$FOLDER/go\nexit 7\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  CHECK(eventually([&] { return script.keeper() == 0; }, 5s));
  write_file(script.folder() + "/go", "go\n");
  CHECK(script.process().exit_code() == 7);
  CHECK_MESSAGE(script.process().err().empty(), script.process().err());
}

TEST_CASE("a keeper learns that its hold was released after acquires of the same --owner without a keeper") {
  RedisServer redis;
  for (const std::string more : {" --again", ""}) {
    CAPTURE(more);
    const std::string acquire = "\"$RLOCK\" lock acquire k --owner w1 ";
    const std::string release = "\"$RLOCK\" lock release -q k --owner w1\n";
    Script script{redis, acquire + "--while-pid $$ --lease 2s || exit 9\n" + acquire + "--lease 20s" + more +
                             " || exit 8\n" + acquire + "--lease 20s" + more + " || exit 8\n" + release +
                             release + release + "sleep 2\nexit 7\n"};
    CHECK(script.process().exit_code() == 7);
    CHECK(script.process().err().empty());
    CHECK_FALSE(redis.has("k"));
  }
}

TEST_CASE("a keeper that has lost its lock leaves it to a retry with the same --owner") {
  RedisServer redis;
  const std::string acquire =
      "\"$RLOCK\" lock acquire k --owner ci --while-pid $$ || exit 9\n: >$FOLDER/on\n";
  Script first{redis, acquire + "exec sleep 60\n"},
      second{redis, "until [ -e $FOLDER/go ]; do sleep 0.01; done\n" + acquire + "exec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((first.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  CHECK(status_of(redis, {"unlock", "-y", "k"}) == 0);
  write_file(second.folder() + "/go", "");
  REQUIRE(eventually([&] { return ::access((second.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  CHECK(first.process().exit_code(20s) == 128 + SIGTERM);
  CHECK(eventually([&] { return first.process().family().empty(); }, 10s));
  CHECK(redis.cli({"HVALS", "k"}) == "1");
  CHECK(second.keeper() > 0);
  second.process().signal(SIGTERM);
  CHECK(second.process().exit_code() == 128 + SIGTERM);
}

TEST_CASE("of two scripts with one --owner, the one that ends first leaves the lock to the other") {
  RedisServer redis;
  int past = 0;
  for (const std::string type : {"lock", "read", "write", "fair", "fenced", "plain"}) {
    for (const bool killed : {false, true}) {
      CAPTURE(type);
      CAPTURE(killed);
      const std::string text = "mkfifo $FOLDER/go\n\"$RLOCK\" lock acquire k --owner me --lease 3s --type " +
                               type + " --while-pid $$ >$FOLDER/owner || exit\nread -r line <$FOLDER/go\n";
      Script first{redis, text}, second{redis, text};
      for (Script* script : {&first, &second})
        REQUIRE(eventually([&] { return script->guardian() != 0 && !script->file("owner").empty(); }, 10s));
      if (killed) ::kill(first.keeper(), SIGKILL);
      if (!killed) write_file(first.folder() + "/go", "go\n");
      REQUIRE(eventually([&] { return first.process().family().empty(); }, 10s));
      const auto ends = [&] { return std::stoi(redis.cli({"ZCARD", "rlock:history:{k}"})); };
      const int before = ends();
      const std::string other = type == "read" ? "write" : type;  // readers share the lock
      CHECK(status_of(redis, {"run", "-qn", "-k", "k", "--type", other, "--", "true"}) == 75);
      write_file(second.folder() + "/go", "go\n");
      CHECK(second.process().exit_code() == 0);
      CHECK(eventually([&] { return !redis.has("k"); }, 2s));
      CHECK(second.process().err() == "");
      CHECK(eventually([&] { return ends() == before + 1; }, 2s));
      CHECK(before == past++);  // the end of the first script was none of the hold
    }
  }
}

TEST_CASE("of two scripts with one --owner, people see the one that is left") {
  RedisServer redis;
  const std::string text =
      "mkfifo $FOLDER/go\n\"$RLOCK\" lock acquire k --owner me --while-pid $$ >$FOLDER/owner || exit\n"
      "read -r line <$FOLDER/go\n";
  Script one{redis, text}, two{redis, text};
  for (Script* script : {&one, &two})
    REQUIRE(eventually([&] { return !script->file("owner").empty(); }, 10s));
  REQUIRE(eventually(
      [&] { return redis.cli({"PUBSUB", "NUMSUB", "redisson_lock__channel:{k}:me"}).ends_with("2"); }, 10s));
  const auto shows = [&](Script& script) {
    Rlock inspect = redis.rlock("inspect", "k");
    return inspect.exit_code() == 0 &&
           contains(inspect.out(), fmt::format("pid {} ", script.process().pid()));
  };
  // Each keeper renews when it begins to listen. Then people see the one that renewed last, until the next renewal.
  bool sees_one = false;
  REQUIRE(eventually(
      [&] {
        sees_one = shows(one);
        return throughout([&] { return shows(one) == sees_one; }, 1s);
      },
      10s));
  write_file((sees_one ? one : two).folder() + "/go", "go\n");
  CHECK(eventually([&] { return shows(sees_one ? two : one); }, 5s));  // its next renewal would be after 10 s
}

TEST_CASE("each of several keys can be released by itself, and the others are kept") {
  RedisServer redis;
  Script script{redis,
                "owner=$(\"$RLOCK\" lock acquire a b --lease 1s --while-pid $$) || exit\n"
                "sleep 1.2  # longer than the lease: what is left of it counts from the last renewal\n"
                "\"$RLOCK\" lock release a --owner $owner || exit 8\n: >$FOLDER/on\nsleep 1.8\nexit 7\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  CHECK_FALSE(redis.has("a"));
  CHECK(throughout([&] { return redis.has("b"); }, 1500ms));
  CHECK(script.process().exit_code() == 7);
  CHECK_MESSAGE(script.process().err().empty(), script.process().err());
  CHECK(eventually([&] { return !redis.has("b"); }, 5s));
}

TEST_CASE(
    "a removed lock stops the script and its processes, with a message; --on-lost warn only prints it") {
  RedisServer redis;
  {
    Script script{
        redis,
        "owner=$(\"$RLOCK\" lock acquire k --lease 2s --while-pid $$) || exit\n: >$FOLDER/on\nsleep 60\n"};
    REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
    redis.del("k");
    CHECK(script.process().exit_code() == 128 + SIGTERM);
    CHECK(contains(script.process().err(),
                   "lost 'k': the server says that it is not ours any more; stopping process"));
    CHECK(eventually([&] { return script.process().family().empty(); }, 5s));
  }
  Script script{redis,
                "owner=$(\"$RLOCK\" lock acquire k --lease 2s --on-lost warn --while-pid $$) || exit\n"
                ": >$FOLDER/on\nsleep 2\nexit 7\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  redis.del("k");
  CHECK(script.process().exit_code() == 7);
  CHECK(contains(script.process().err(), "lost 'k': "));
  CHECK(contains(script.process().err(), " runs on (--on-lost warn)"));
}

TEST_CASE("a keeper that has lost one of its keys releases the others") {
  RedisServer redis;
  Script script{redis,
                "\"$RLOCK\" lock acquire a b --lease 1m --while-pid $$ >$FOLDER/owner || exit\n"
                ": >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  CHECK(status_of(redis, {"unlock", "-q", "--yes", "a"}) == 0);
  CHECK(script.process().exit_code(20s) == 128 + SIGTERM);
  CHECK(eventually([&] { return !redis.has("b"); }, 10s));
}

TEST_CASE("a keeper that does not hear of the release of its hold leaves a later hold of the same --owner") {
  RedisServer redis;
  redis.cli({"ACL", "SETUSER", "deaf", "on", "nopass", "~*", "&*", "+@all", "-subscribe", "-ssubscribe"});
  Script script{redis,
                "hold='lock acquire k --owner w1 --lease 1m'\n"
                "RLOCK_URL=unix://deaf:pw@" +
                    redis.socket() +
                    " \"$RLOCK\" $hold --while-pid $$ || exit 9\n"
                    "\"$RLOCK\" lock release k --owner w1 || exit 8\n\"$RLOCK\" $hold || exit 7\n"};
  CHECK(script.process().exit_code(20s) == 0);
  CHECK(eventually([&] { return script.process().family().empty(); }, 10s));
  CHECK(redis.has("k"));
}

TEST_CASE("with --on-lost warn the end of the script releases, too") {
  RedisServer redis;
  Script script{redis,
                "\"$RLOCK\" lock acquire k --lease 1m --on-lost warn --while-pid $$ >$FOLDER/owner || exit\n"
                "exit 7\n"};
  CHECK(script.process().exit_code() == 7);
  CHECK_FALSE(script.file("owner").empty());
  CHECK(eventually([&] { return !redis.has("k"); }, 5s));
}

TEST_CASE("a script that is asked to end keeps the lock until all that it has started has ended, too") {
  RedisServer redis;
  Script script{redis,
                "owner=$(\"$RLOCK\" lock acquire k --while-pid $$) || exit\n"
                "(trap '' TERM; while :; do date +%N >$FOLDER/beat; sleep 0.02; done) &\n"
                ": >$FOLDER/on\nsleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  REQUIRE(eventually([&] { return !script.file("beat").empty(); }, 10s));
  CHECK(status_of(redis, {"stop", "k", "-w", "20s"}) == 0);
  CHECK(script.process().exit_code() == 128 + SIGTERM);
  REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
  const std::string last = script.file("beat");
  CHECK(throughout([&] { return script.file("beat") == last; }, 300ms));
}

TEST_CASE("a process that a keeper saw belongs to the script, also if the script cannot be tagged") {
  RedisServer redis;
  // The process leaves the session, and its parent ends between two looks.
  Script script{redis,
                "[ -n \"$BASH_VERSION\" ] || exec bash \"$0\"\nulimit -x 1000\n"
                "owner=$(\"$RLOCK\" lock acquire k --lease 1s --while-pid $$) || exit\n"
                "(setsid sleep 600 & echo $! >$FOLDER/apart; sleep 1.5)\n: >$FOLDER/on\nsleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 20s));
  const pid_t apart = std::stoi(script.file("apart"));
  REQUIRE(::getsid(apart) == apart);
  CHECK(status_of(redis, {"stop", "k", "-w", "20s"}) == 0);
  CHECK(script.process().exit_code() == 128 + SIGTERM);
  CHECK(eventually([&] { return !redis.has("k"); }, 5s));
  CHECK_FALSE(alive(apart));
}

TEST_CASE("if a keeper is killed, its guardian ends the script and releases, also with an owner of its own") {
  RedisServer redis;
  for (const std::string owner : {"", "--owner w1 "}) {
    CAPTURE(owner);
    Script script{redis, "owner=$(\"$RLOCK\" lock acquire k --lease 1m " + owner +
                             "--while-pid $$) || exit\n: >$FOLDER/on\nexec sleep 60\n"};
    REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
    REQUIRE(redis.has("k"));
    ::kill(script.keeper(), SIGKILL);
    CHECK(script.process().exit_code() == 128 + SIGKILL);
    CHECK(eventually([&] { return !redis.has("k"); }, 5s));
  }
}

TEST_CASE("the guardian of a killed keeper leaves a key alone that the same --owner has acquired again") {
  RedisServer redis;
  Script script{
      redis,
      "\"$RLOCK\" lock acquire a b --owner w1 --lease 1m --while-pid $$ || exit 9\n"
      "\"$RLOCK\" lock release a --owner w1 && \"$RLOCK\" lock acquire a --owner w1 --lease 1m || exit 8\n"
      ": >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 20s));
  ::kill(script.keeper(), SIGKILL);
  CHECK(script.process().exit_code() == 128 + SIGKILL);
  CHECK(eventually([&] { return !redis.has("b"); }, 10s));
  CHECK(redis.has("a"));
}

TEST_CASE(
    "if a keeper is killed before its release is confirmed, the guardian releases, and leaves a later hold") {
  RedisServer redis;
  for (const std::string owner : {"", "--owner w1 "}) {
    for (const auto lost : {TcpProxy::Way::to_server, TcpProxy::Way::to_client}) {
      CAPTURE(owner);
      CAPTURE(lost == TcpProxy::Way::to_server);
      TcpProxy proxy{redis.where()};
      Script script{redis, "owner=$(\"$RLOCK\" -u " + proxy.url() + " lock acquire k --lease 10m " + owner +
                               "--events $FOLDER/events --while-pid $$) || exit\n"
                               ": >$FOLDER/on\nuntil [ -e $FOLDER/go ]; do sleep 0.01; done\n"};
      REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
      const pid_t keeper = script.keeper();
      const std::size_t before = proxy.bytes(TcpProxy::Way::to_server);
      proxy.drop(lost);
      write_file(script.folder() + "/go", "");
      REQUIRE(script.process().exit_code() == 0);
      const bool arrives = lost == TcpProxy::Way::to_client;
      REQUIRE(eventually([&] { return proxy.bytes(TcpProxy::Way::to_server) > before; }, 10s));
      if (arrives) REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
      ::kill(keeper, SIGSTOP);  // so that it cannot give its release up
      if (arrives) acquired(redis, "k", {"--owner", "w1"});
      proxy.pass();
      ::kill(keeper, SIGKILL);
      CHECK(eventually([&] { return script.process().family().empty(); }, 10s));
      CHECK(redis.has("k") == arrives);
      const std::string events = events_in(script.folder() + "/events");
      CHECK_MESSAGE((events.ends_with(" released") && events.find("released") == events.rfind("released")),
                    events);
      redis.cli({"FLUSHALL"});
    }
  }
}

TEST_CASE("a removed key of many stops the script soon, beside a frozen server of three") {
  RedisServer one, two, three;
  Process::Options options;
  options.env = {{"RLOCK_URL", one.url() + " " + two.url() + " " + three.url()}, {"RLOCK", rlock_binary()}};
  // To ask about one key after the other took 250 ms for each: 50 s.
  Process script{{"sh", "-c",
                  "\"$RLOCK\" lock acquire $(seq 200) --lease 1m --while-pid $$ >/dev/null || exit 9\n"
                  "echo held; exec sleep 60"},
                 options};
  REQUIRE(eventually([&] { return contains(script.out(), "held"); }, 20s));
  three.freeze();
  Process unlock{{rlock_binary(), "unlock", "-q", "--yes", "1"}, options};
  CHECK(unlock.exit_code(20s) == 0);
  CHECK(script.exit_code(25s) == 128 + SIGTERM);
  three.thaw();
}

TEST_CASE("a script that is stopped leaves alone the private server that it started") {
  RedisServer redis;
  Script script{redis,
                "export XDG_STATE_HOME=\"$FOLDER\"\n"
                "\"$RLOCK\" lock acquire k --while-pid $$ >\"$FOLDER/owner\" || exit\n"
                "\"$RLOCK\" run -q -u local: -k mine -- true || exit\n"
                "echo on >\"$FOLDER/on\"\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return script.file("on") == "on\n"; }, 20s));
  CHECK(redis.rlock("stop", "k").exit_code() == 0);
  CHECK(script.process().exit_code() == 128 + SIGTERM);
  CHECK_FALSE(redis.has("k"));
  Process::Options options = Rlock::clean_environment();
  options.env["XDG_STATE_HOME"] = script.folder();
  Process stop{{rlock_binary(), "server", "stop"}, options};
  CHECK(stop.exit_code() == 0);
  CHECK_FALSE(contains(stop.err(), "was not running"));
}

TEST_CASE("after a loss the script's processes get KILL, also when the script has ended by TERM") {
  RedisServer redis;
  Script script{redis,
                "owner=$(\"$RLOCK\" lock acquire k --lease 2s --while-pid $$) || exit\n"
                "(trap '' TERM; while :; do date +%N >$FOLDER/beat; sleep 0.02; done) &\n"
                ": >$FOLDER/on\nsleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  redis.del("k");
  CHECK(script.process().exit_code() == 128 + SIGTERM);
  CHECK(eventually([&] { return script.process().family().empty(); }, 5s));
}

TEST_CASE("a server that dies stops the script before the lease can have ended") {
  RedisServer redis;
  Script script{
      redis,
      "owner=$(\"$RLOCK\" lock acquire k --lease 2s --while-pid $$) || exit\n: >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  redis.freeze();
  const auto frozen = std::chrono::steady_clock::now();
  CHECK(script.process().exit_code() == 128 + SIGTERM);
  CHECK(std::chrono::steady_clock::now() - frozen < 2s);
  redis.thaw();
}

TEST_CASE("no process, another user's process, and no process id are 64 for --while-pid") {
  RedisServer redis;
  CHECK(status_of(redis, {"lock", "acquire", "k", "--while-pid", "x"}) == 64);
  CHECK(status_of(redis, {"lock", "acquire", "k", "--while-pid", "0"}) == 64);
  Rlock gone = redis.rlock("lock", "acquire", "k", "--while-pid", "4194304");
  CHECK(gone.exit_code() == 64);
  CHECK(contains(gone.err(), "there is no process 4194304"));
  CHECK(redis.keys().empty());
}

TEST_CASE("a thread of the kernel is 64 for --while-pid") {
  if (read_file("/proc/2/comm") != "kthreadd\n") return skipped("/proc shows no thread of the kernel");
  try {
    rlock::expect_script(2);
    FAIL("accepted");
  } catch (const rlock::Error& error) {
    CHECK(error.kind() == rlock::Error::usage);
    const bool may_signal = ::kill(2, 0) == 0;
    CHECK(std::string{error.what()} ==
          (may_signal ? "--while-pid: process 2 is a thread of the kernel"
                      : "--while-pid: process 2 is another user's, and could not be stopped"));
  }
}

TEST_CASE(
    "with any limit of open files a keeper renews, or rlock says what is missing and acquires nothing") {
  if (kSanitized) return skipped("UBSan needs descriptors of its own to see that an object is there");
  RedisServer redis;
  Script script{
      redis,
      "for n in $(seq 5 20); do sh -c \"ulimit -S -n $n; exec \\\"\\$RLOCK\\\" lock acquire k$n --lease 2s --while-pid $$\""
      " >$FOLDER/out$n 2>$FOLDER/err$n; echo $? >$FOLDER/status$n; done\n: >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 30s));
  const auto acquired_at = std::chrono::steady_clock::now();
  Words kept;
  for (int files = 5; files <= 20; ++files) {
    CAPTURE(files);
    const std::string n = std::to_string(files), status = script.file("status" + n);
    CAPTURE(script.file("err" + n));
    if (status == "0\n") {
      CHECK_FALSE(script.file("out" + n).empty());
      kept.push_back("k" + n);
      continue;
    }
    CHECK(status == "71\n");
    CHECK(script.file("out" + n).empty());
    CHECK(contains(script.file("err" + n), " file descriptors, and only "));
    CHECK_FALSE(redis.has("k" + n));
  }
  CHECK(std::ranges::find(kept, "k20") != kept.end());
  const auto renewed = [&](const std::string& key) { return redis.pttl(key) > 1000; };
  CHECK(eventually(
      [&] {
        return std::chrono::steady_clock::now() - acquired_at > 4s && std::ranges::all_of(kept, renewed);
      },
      20s));
}

TEST_CASE("PID 1 is 64 for --while-pid: it is the system, and no script") {
  RedisServer redis;
  CHECK(status_of(redis, {"lock", "acquire", "k", "--while-pid", "1"}) == 64);
  CHECK(redis.keys().empty());
}

TEST_CASE("if the script ends during the wait, the wait ends, and nothing is held or queued for it") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair"}) {
    CAPTURE(type);
    const std::string owner = acquired(redis, "k", {"--type", type});
    Process script{{"sleep", "60"}};
    Rlock acquire =
        redis.rlock("lock", "acquire", "k", "--type", type, "--while-pid", std::to_string(script.pid()));
    REQUIRE(
        eventually([&] { return contains(redis.keys(), "line") || contains(redis.keys(), "queue"); }, 10s));
    script.signal(SIGKILL);
    script.exit_code();
    CHECK(acquire.exit_code() == 75);
    CHECK(contains(acquire.err(),
                   fmt::format("process {} has ended, so rlock does not acquire 'k' for", script.pid())));
    CHECK(status_of(redis, {"lock", "release", "k", "--owner", owner}) == 0);
    const std::string left = redis.keys();
    CHECK_FALSE(redis.has("k"));
    CHECK_MESSAGE(!contains(left, ":line"), left);
    CHECK_MESSAGE(!contains(left, "queue"), left);
  }
}

TEST_CASE("a keeper refuses a process that has only the number of the script") {
  using namespace rlock;  // here only, because this file has a Script of its own
  RedisServer redis;
  Process stranger{{"sleep", "60"}};
  const auto process = process_of(stranger.pid());
  REQUIRE(process.has_value());
  HoldRequest request;
  ServerOptions server;
  server.urls = {redis.url()};
  request.deployment = resolve(server);
  request.names = {LockName{"k"}};
  request.type = find_lock_type("lock");
  request.script = ProcessId{process->pid, process->started - 1};
  request.budget = plan_budget({.lease = request.lease, .kill_after = request.stop.kill_after});
  HeldKeys keys{request, {.owner = new_owner()}};
  keys.hold({.asked = Clock::now(), .held = {Held{}}, .answers = {}}, Clock::now());
  Events events;
  Monitor monitor{redis};
  CHECK_THROWS_AS(start_script_keeper(keys, events, [] {}), Error);
  CHECK(throughout([&] { return stranger.running(); }, 200ms));
  // The caller undoes the acquire. A guardian that took the keeper for killed would release, too.
  for (const std::string& command : monitor.commands()) CHECK_FALSE(command.starts_with("\"EVAL"));
}

TEST_CASE(
    "if a keeper is killed when its lease is over, the guardian leaves a later hold of the same owner") {
  RedisServer redis;
  TcpProxy proxy{redis.where()};
  Script script{redis, "owner=$(\"$RLOCK\" -u " + proxy.url() +
                           " lock acquire k --lease 3s --owner w1 --while-pid $$) || exit\n"
                           ": >$FOLDER/on\nuntil [ -e $FOLDER/go ]; do sleep 0.01; done\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  const pid_t keeper = script.keeper();
  REQUIRE(keeper > 0);
  const std::size_t before = proxy.bytes(TcpProxy::Way::to_server);
  proxy.drop(TcpProxy::Way::to_server);
  write_file(script.folder() + "/go", "");
  REQUIRE(script.process().exit_code() == 0);
  REQUIRE(eventually([&] { return proxy.bytes(TcpProxy::Way::to_server) > before; }, 10s));
  ::kill(keeper, SIGSTOP);
  REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
  proxy.pass();
  acquired(redis, "k", {"--owner", "w1"});
  ::kill(keeper, SIGKILL);
  CHECK(eventually([&] { return script.process().family().empty(); }, 10s));
  CHECK(redis.has("k"));
}

TEST_CASE(
    "scripts, keepers and guardians are killed and stopped: no process is ever beside the next holder") {
  RedisServer redis;
  TempDir evidence;
  const int rounds = long_profile() ? 56 : 21;
  std::vector<Span> ends;
  for (int i = 0; i < rounds; ++i) {
    CAPTURE(i);
    Words witness = witness_command(evidence.path(), "for 60000");
    std::string command;
    for (const std::string& word : witness) command += " '" + word + "'";
    Script script{redis, "owner=$(\"$RLOCK\" lock acquire k --lease 1500ms --while-pid $$) || exit\nexec" +
                             command + "\n"};
    REQUIRE(eventually([&] { return judge(evidence.path()).holds == static_cast<std::size_t>(i + 1); }, 20s));
    REQUIRE(eventually([&] { return script.keeper() > 0 && script.guardian() > 0; }, 10s));
    const pid_t keeper = script.keeper(), guardian = script.guardian();
    bool by_end = false;
    switch (i % 7) {
      case 0:
        script.process().signal(SIGKILL);
        by_end = true;
        break;
      case 1: ::kill(keeper, SIGKILL); break;
      case 2: ::kill(keeper, SIGSTOP); break;
      case 3:  // a new guardian takes the place of the killed one
        ::kill(guardian, SIGKILL);
        REQUIRE(eventually(
            [&] {
              const pid_t present = script.guardian();  // it is read once, because two reads may differ
              return present > 0 && present != guardian;
            },
            5s));
        ::kill(keeper, SIGKILL);
        break;
      case 4: ::kill(keeper, SIGTERM); break;
      case 5:  // before the keeper is killed, it may continue its guardian
        ::kill(guardian, SIGSTOP);
        ::kill(keeper, SIGKILL);
        break;
      case 6:  // the keeper is stopped, so it cannot continue its guardian
        ::kill(keeper, SIGSTOP);
        ::kill(guardian, SIGSTOP);
        ::kill(keeper, SIGKILL);
        break;
    }
    const bool is_over = eventually([&] { return !script.process().running(); }, 10s);
    const std::string left = is_over ? "" : redis.keys() + output_of({"ps", "-eo", "pid,ppid,sid,stat,comm"});
    REQUIRE_MESSAGE(is_over, left);
    const auto ended = std::chrono::steady_clock::now();
    if (i % 7 == 2) {
      ::kill(keeper, SIGCONT);
    } else {
      REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
      if (by_end) ends.push_back(std::chrono::duration_cast<Span>(std::chrono::steady_clock::now() - ended));
    }
    REQUIRE(eventually([&] { return script.process().family().empty(); }, 10s));
  }
  const Verdict verdict = judge(evidence.path());
  CHECK_MESSAGE(verdict.clean(), verdict.str());
  const std::string text = figures(ends);
  MESSAGE("free after the end of the script: " << text << "; " << verdict.str());
  CHECK_MESSAGE(ends[ends.size() / 2] < 100ms, text);
}

TEST_CASE("acquire takes several keys, shows the reason in inspect, and --json names the holder") {
  RedisServer redis;
  const std::string owner = acquired(redis, "b", {"a", "--reason", "the night shift", "--label", "team=dba"});
  CHECK(redis.has("a"));
  Rlock inspect = redis.rlock("inspect", "--json", "a");
  CHECK(inspect.exit_code() == 0);
  CHECK(contains(inspect.out(), "\"reason\":\"the night shift\""));
  CHECK(contains(inspect.out(), "\"team\":\"dba\""));
  Rlock busy = redis.rlock("lock", "acquire", "-n", "a", "c", "--lease", "1m", "--json");
  CHECK(busy.exit_code() == 75);
  CHECK(busy.out().starts_with(
      "{\"v\":1,\"outcome\":\"busy\",\"key\":\"a\",\"name\":\"a\",\"holders\":[{\"owner\":\"" + owner));
  CHECK_FALSE(redis.has("c"));
  Rlock held = redis.rlock("lock", "acquire", "x", "y", "--lease", "1m", "--json");
  CHECK(held.exit_code() == 0);
  CHECK(held.out().starts_with("{\"v\":1,\"key\":null,\"name\":null,\"type\":\"lock\""));
  CHECK(contains(held.out(), "\"outcome\":\"held\",\"keys\":[\"x\",\"y\"]}"));
  CHECK(status_of(redis, {"lock", "acquire", "-n", "r", "--lease", "1m", "--sync-replicas", "1"}) == 69);
  CHECK_FALSE(redis.has("r"));
}
