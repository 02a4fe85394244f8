// rlock lock acquire --while-pid: a keeper renews the lock for a script that cannot wrap its commands.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <utility>

#include "base/ancestry.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/resp_client.h"
#include "support/script.h"
#include "support/skipped.h"

using namespace rlock::test;
using namespace std::chrono_literals;

TEST_CASE("a keeper renews while the script goes on, and gives back when it has ended") {
  RedisServer redis;
  ShellScript script{
      redis,
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
    ShellScript script{redis, "owner=$(\"$RLOCK\" lock acquire k --while-pid $$" + more +
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
  ShellScript script{
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
    ShellScript script{redis, "\"$RLOCK\" lock acquire k --while-pid $$ 2>&1 " + out +
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
    ShellScript script{redis, "mkfifo $FOLDER/pipe\ncat $FOLDER/pipe >$FOLDER/read &\nexec 2>$FOLDER/pipe\n" +
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
    ShellScript script{redis,
                       "owner=$(\"$RLOCK\" lock acquire k --type " + type +
                           " --while-pid $$) || exit\n\"$RLOCK\" lock release k --owner $owner || exit 8\n"
                           ": >$FOLDER/on\nsleep 0.7\nexit 7\n"};
    REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
    CHECK_FALSE(redis.has("k"));
    CHECK(eventually([&] { return script.keeper() == 0; }, 5s));
    CHECK(script.process().exit_code() == 7);
    CHECK(script.process().err().empty());
  }
}

TEST_CASE("a keeper says that it could not wake the waiters, as a run does") {
  RedisServer redis;
  if (RedisServer::version() < 60200) return skipped("Redis before 6.2 has no channel permissions");
  redis.cli({"ACL", "SETUSER", "mute", "on", ">pw", "~*", "resetchannels", "+@all"});
  ShellScript script{redis, "RLOCK_URL=unix://mute:pw@" + redis.socket() +
                                " \"$RLOCK\" lock acquire k --while-pid $$ >$FOLDER/owner || exit\n"};
  CHECK(script.process().exit_code() == 0);
  CHECK(eventually([&] { return contains(script.process().err(), "could not wake up its waiters"); }, 10s));
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("each of several keys can be released by itself, and the others are kept") {
  RedisServer redis;
  ShellScript script{
      redis,
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
    ShellScript script{
        redis,
        "owner=$(\"$RLOCK\" lock acquire k --lease 2s --while-pid $$) || exit\n: >$FOLDER/on\nsleep 60\n"};
    REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
    redis.del("k");
    CHECK(script.process().exit_code() == 128 + SIGTERM);
    CHECK(contains(script.process().err(),
                   "lost 'k': the server says that it is not ours any more; stopping process"));
    CHECK(eventually([&] { return script.process().family().empty(); }, 5s));
  }
  ShellScript script{redis,
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
  ShellScript script{redis,
                     "\"$RLOCK\" lock acquire a b --lease 1m --while-pid $$ >$FOLDER/owner || exit\n"
                     ": >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  CHECK(status_of(redis, {"unlock", "-q", "--yes", "a"}) == 0);
  CHECK(script.process().exit_code(20s) == 128 + SIGTERM);
  CHECK(eventually([&] { return !redis.has("b"); }, 10s));
}

TEST_CASE("with --on-lost warn the end of the script releases, too") {
  RedisServer redis;
  ShellScript script{
      redis,
      "\"$RLOCK\" lock acquire k --lease 1m --on-lost warn --while-pid $$ >$FOLDER/owner || exit\n"
      "exit 7\n"};
  CHECK(script.process().exit_code() == 7);
  CHECK_FALSE(script.file("owner").empty());
  CHECK(eventually([&] { return !redis.has("k"); }, 5s));
}

TEST_CASE("a script that is asked to end keeps the lock until all that it has started has ended, too") {
  RedisServer redis;
  ShellScript script{redis,
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

TEST_CASE("a stop also ends what a helper script with a lock of its own has left behind") {
  RedisServer redis;
  ShellScript script{redis,
                     "\"$RLOCK\" lock acquire a --while-pid $$ >/dev/null || exit\n"
                     "cat >$FOLDER/step <<'E'\n\"$RLOCK\" lock acquire b --while-pid $$ >/dev/null || exit\n"
                     "setsid sh -c 'echo $$ >$FOLDER/worker; exec sleep 60' >/dev/null 2>&1 &\n"
                     "until [ -s $FOLDER/worker ]; do sleep 0.01; done\nE\n"
                     "sh $FOLDER/step || exit\n: >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  REQUIRE(eventually([&] { return !redis.has("b"); }, 10s));
  CHECK(status_of(redis, {"stop", "a", "-w", "20s"}) == 0);
  CHECK_FALSE(redis.has("a"));
  CHECK_FALSE(rlock::process_of(std::stoi(script.file("worker"))).has_value());
}

TEST_CASE("a process that a keeper saw belongs to the script, also if the script cannot be tagged") {
  RedisServer redis;
  // The process leaves the session, and its parent ends between two looks.
  ShellScript script{redis,
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
  ShellScript script{redis,
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
  ShellScript script{redis,
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
  ShellScript script{
      redis,
      "owner=$(\"$RLOCK\" lock acquire k --lease 2s --while-pid $$) || exit\n: >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  redis.freeze();
  const auto frozen = std::chrono::steady_clock::now();
  CHECK(script.process().exit_code() == 128 + SIGTERM);
  CHECK(std::chrono::steady_clock::now() - frozen < 2s);
  redis.thaw();
}
