// rlock lock acquire in scripts.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/text.h"
#include "scripts.h"
#include "support/contains.h"
#include "support/event_lines.h"
#include "support/eventually.h"
#include "support/fake_redis.h"
#include "support/full_pipe.h"
#include "support/lock_verbs.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/tcp_proxy.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

TEST_CASE("acquire prints the owner and nothing else, and release takes it") {
  RedisServer redis;
  const std::string owner = acquired(redis, "deploy");
  CHECK(redis.cli({"HGET", "deploy", owner}) == "1");
  CHECK(redis.pttl("deploy") > 50'000);
  CHECK(redis.pttl("deploy") <= 60'000);

  Rlock release = redis.rlock("lock", "release", "deploy", "--owner", owner);
  CHECK(release.exit_code() == 0);
  CHECK(release.out().empty());
  CHECK(release.err().empty());
  CHECK_FALSE(redis.has("deploy"));
  CHECK(redis.cli({"HLEN", "rlock:meta:{deploy}"}) == "0");
}

TEST_CASE("a lease that is over before any answer is refused") {
  RedisServer redis;
  Rlock acquire = redis.rlock("lock", "acquire", "deploy", "--lease", "2ms");
  CHECK(acquire.exit_code() == 78);
  CHECK(acquire.err() == "rlock: --lease 2ms is over before any answer; it needs 3ms or more\n");
}

TEST_CASE("a lock whose lease is over when its answer comes is not handed out") {
  RedisServer redis;
  TcpProxy proxy{"unix:" + redis.socket()};
  proxy.delay(TcpProxy::Way::to_client, 250ms);
  Process::Options options = redis.environment();
  options.env["RLOCK_URL"] = proxy.url();
  Rlock acquire{{"lock", "acquire", "-n", "deploy", "--lease", "200ms"}, options};
  CHECK(acquire.exit_code() == 69);
  CHECK(acquire.out().empty());
}

TEST_CASE("if the server no longer has the script for the facts, they are sent again before acquire ends") {
  // acquire waits for at most 200 ms, which may be too short on a busy machine. So one success in some tries is enough.
  CHECK(eventually([] {
    FakeRedis redis;
    redis.on("EVAL", wire::nil());
    redis.decide([](const Words& command) -> std::optional<std::string> {
      const bool facts = std::ranges::find(command, "rlock:meta:{k}") != command.end();
      if (command.front() != "EVALSHA" || facts) return std::nullopt;  // the facts wait for an answer
      return wire::array({wire::text("held"), wire::integer(1'700'000'000'000)});
    });
    Process::Options options = Rlock::clean_environment();
    options.env["RLOCK_URL"] = redis.url();
    Rlock acquire{{"lock", "acquire", "-n", "k", "--lease", "1m"}, options};
    REQUIRE(eventually([&] { return !acquire.out().empty(); }));
    redis.answer(wire::error("NOSCRIPT No matching script."));
    CHECK(acquire.exit_code() == 0);
    return redis.count("EVAL") == 1;
  }));
}

TEST_CASE("acquire takes the switches of run for its types, and two that differ are refused") {
  RedisServer redis;
  acquired(redis, "shared", {"-s"});
  acquired(redis, "shared", {"--read"});
  acquired(redis, "alone", {"-x"});
  acquired(redis, "fair", {"--fair"});
  acquired(redis, "fenced", {"--fenced"});
  CHECK(redis.cli({"HGET", "shared", "mode"}) == "read");
  CHECK(redis.cli({"HGET", "alone", "mode"}) == "write");
  Rlock refused{{"lock", "acquire", "-n", "alone", "--lease", "1m"}, redis.environment()};
  CHECK(refused.exit_code() == 65);
  CHECK(contains(refused.err(), "take it with --write (-x) or --read (-s)"));
  Rlock both{{"lock", "acquire", "k", "--lease", "1m", "--fair", "--type", "read"}, redis.environment()};
  CHECK(both.exit_code() == 64);
  CHECK(both.err() == "rlock: --type: contradicts --fair (--type fair)\n");
}

TEST_CASE("acquire without a lease is refused, and nothing is sent") {
  RedisServer redis;
  Monitor monitor{redis};
  Rlock acquire = redis.rlock("lock", "acquire", "deploy");
  CHECK(acquire.exit_code() == 64);
  CHECK(acquire.err() ==
        "rlock: --lease is missing: no process renews this lock, so rlock needs to know when it ends; "
        "or use --while-pid $$\n");
  CHECK(monitor.commands().empty());
}

TEST_CASE("a held key is 75 for acquire, or the status of -E") {
  RedisServer redis;
  acquired(redis, "deploy");
  CHECK(status_of(redis, {"lock", "acquire", "-n", "deploy", "--lease", "1m"}) == 75);
  CHECK(status_of(redis, {"lock", "acquire", "-nqE7", "deploy", "--lease", "1m"}) == 7);
  CHECK(status_of(redis, {"lock", "acquire", "-w", "2s", "-k", "deploy", "--lease", "1m"}) == 75);
}

TEST_CASE("a failed acquire names the holder") {
  RedisServer redis;
  acquired(redis, "deploy");
  Rlock acquire = redis.rlock("lock", "acquire", "-n", "deploy", "--lease", "1m");
  CHECK(acquire.exit_code() == 75);
  CHECK(acquire.out().empty());
  CHECK(acquire.err().starts_with("rlock: not waiting (-n): 'deploy' is held by "));
  CHECK(acquire.err().ends_with(", because no process renews it\n"));
  Rlock quiet = redis.rlock("lock", "acquire", "-nq", "deploy", "--lease", "1m");
  CHECK(quiet.exit_code() == 75);
  CHECK(quiet.err().empty());
}

TEST_CASE("the remedy for a stale lock removes it in the same environment") {
  RedisServer redis;
  auto options = redis.environment();
  options.env["RLOCK_PREFIX"] = "app: ";
  options.env["RLOCK_URL"] = "redis://127.0.0.1:1";
  const Words server{"--url", redis.url() + "?db=2"};
  const auto tried = [&](Words words) {
    words.insert(words.end(), server.begin(), server.end());
    words.push_back("--key=-it's");
    return Rlock{words, options};
  };
  REQUIRE(tried({"lock", "acquire", "--lease", "1m"}).exit_code() == 0);
  redis.cli({"SELECT", "2"});
  REQUIRE(redis.cli({"PERSIST", "app: -it's"}) == "1");
  Rlock vain = tried({"lock", "acquire", "-n", "--lease", "1m"});
  REQUIRE(vain.exit_code() == 75);
  const std::string start = "rlock: if the holder is dead, remove the lock: rlock unlock ";
  const auto at = vain.err().find(start);
  REQUIRE(at != std::string::npos);
  const std::string remedy = line(vain.err().substr(at + start.size()));
  Process shell{{"/bin/sh", "-c", "exec " + rlock_binary() + " unlock --yes " + remedy}, options};
  CHECK(shell.exit_code() == 0);
  CHECK(tried({"lock", "status"}).exit_code() == 1);
}

TEST_CASE("a fair lock that is kept for another waiter is not called held, and unlock is no remedy") {
  RedisServer redis;
  redis.cli({"RPUSH", "redisson_lock_queue:{k}", "java:1"});
  redis.cli({"ZADD", "redisson_lock_timeout:{k}", "99999999999999", "java:1"});
  for (const std::string wait : {"0", "100ms"}) {
    Rlock acquire = redis.rlock("lock", "acquire", "k", "-w", wait, "--type", "fair", "--lease", "1m");
    CHECK(acquire.exit_code(30s) == 75);
    CHECK(contains(acquire.err(), "'k' is free, and reserved for the first waiter in its queue"));
    CHECK(acquire.err().ends_with("\nrlock: to see its waiters: rlock inspect -v k\n"));
  }
}

TEST_CASE("a waiter for an acquired lock is told why it waits, on stderr only") {
  RedisServer redis;
  const std::string owner = acquired(redis, "deploy");
  Rlock waiter = redis.rlock("lock", "acquire", "deploy", "--lease", "1m");
  Rlock quiet = redis.rlock("lock", "acquire", "-q", "deploy", "--lease", "1m");
  const auto said = [&](const std::string& text) { return contains(waiter.err(), text); };
  REQUIRE(eventually([&] { return said("rlock: waiting for 'deploy': held by "); }));
  CHECK(said("; ends in "));
  CHECK(said(", because no process renews it\n"));
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{deploy}") == 2; }));
  CHECK(quiet.err().empty());
  quiet.signal(SIGUSR1);
  CHECK(eventually([&] { return quiet.err().starts_with("rlock: waiting for 'deploy': held by "); }));
  quiet.signal(SIGTERM);
  CHECK(quiet.exit_code() == 128 + SIGTERM);

  CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", owner}) == 0);
  CHECK(waiter.exit_code() == 0);
  CHECK(split(waiter.out(), '\n').size() == 2);
}

TEST_CASE("a lock without renewals is not taken for a dead holder's") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42"});
  const std::string facts = redis.cli({"HGET", "rlock:meta:{deploy}", "ci-42"});
  // As if taken 50 seconds ago: far more than half of its lease of one minute.
  const auto times = facts.find(",\"lease_ms\"");
  const long long now = std::stoll(redis.cli({"TIME"}));
  const std::string then = std::to_string(now - 50) + "000";
  redis.cli({"HSET", "rlock:meta:{deploy}", "ci-42",
             "{\"since\":" + then + ",\"renewed\":" + then + facts.substr(times)});
  redis.cli({"PEXPIRE", "deploy", "10000"});

  const auto seen = [&] {
    Rlock inspect = redis.rlock("inspect", "deploy");
    CHECK(inspect.exit_code() == 0);
    return inspect.out();
  };
  CHECK(contains(seen(), "owner ci-42, ends in "));
  CHECK(status_of(redis, {"lock", "renew", "deploy", "--owner", "ci-42"}) == 0);
  CHECK(contains(seen(), ", because no process renews it\n"));
  Rlock unlock = redis.rlock("unlock", "--yes", "deploy");
  CHECK(unlock.exit_code() == 0);
  CHECK(
      contains(unlock.err(),
               "no process renews it, and rlock cannot know whether the script that acquired it still runs"));
}

TEST_CASE("if a run has joined a hold, no message says that no process renews it") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42"});
  Rlock run{{"run", "-q", "-k", "deploy", "--owner", "ci-42", "--", "sleep", "60"}, redis.environment()};
  REQUIRE(eventually([&] { return redis.cli({"HGET", "deploy", "ci-42"}) == "2"; }));
  const auto printed = [&](const Words& words) {
    Rlock rlock{words, redis.environment()};
    static_cast<void>(rlock.exit_code());
    return rlock.out() + rlock.err();
  };
  for (const Words& words :
       {Words{"inspect", "deploy"}, Words{"lock", "acquire", "-n", "deploy", "--lease", "1m"}}) {
    const std::string text = printed(words);
    CHECK_MESSAGE(contains(text, " unless a run inside it renews it"), text);
    CHECK_MESSAGE(!contains(text, "no process renews it"), text);
  }
}

TEST_CASE("acquire waits for a release") {
  RedisServer redis;
  const std::string owner = acquired(redis, "deploy");
  Rlock waiter = redis.rlock("lock", "acquire", "deploy", "--lease", "1m");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{deploy}") == 1; }));
  CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", owner}) == 0);
  CHECK(waiter.exit_code() == 0);
  CHECK(redis.cli({"HEXISTS", "deploy", line(waiter.out())}) == "1");
}

TEST_CASE("an owner that already holds the key gets a new lease, and the count stays") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42"});
  redis.cli({"PEXPIRE", "deploy", "1000"});
  CHECK(acquired(redis, "deploy", {"--owner", "ci-42"}) == "ci-42");
  CHECK(redis.pttl("deploy") > 50'000);
  CHECK(redis.cli({"HGET", "deploy", "ci-42"}) == "1");
}

TEST_CASE("a failed acquire leaves its owner's earlier holds alone") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42"});
  redis.freeze();
  CHECK(status_of(redis, {"lock", "acquire", "-n", "deploy", "--lease", "1m", "--owner", "ci-42"}) == 69);
  redis.thaw();
  CHECK(throughout([&] { return redis.cli({"HGET", "deploy", "ci-42"}) == "1"; }, 200ms));

  Process::Options mute = redis.environment();
  mute.closed = {1};
  Rlock acquire{{"lock", "acquire", "deploy", "--lease", "1m", "--owner", "ci-42"}, mute};
  CHECK(acquire.exit_code() == 71);
  CHECK(contains(acquire.err(), "'deploy' stays held, as it was before"));
  CHECK(redis.cli({"HGET", "deploy", "ci-42"}) == "1");
}

TEST_CASE("--again counts one more hold, and each hold is released by itself") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42", "--again"});
  acquired(redis, "deploy", {"--owner", "ci-42", "--again"});
  CHECK(redis.cli({"HGET", "deploy", "ci-42"}) == "2");

  CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", "ci-42"}) == 0);
  CHECK(redis.cli({"HGET", "deploy", "ci-42"}) == "1");
  CHECK(redis.cli({"HEXISTS", "rlock:meta:{deploy}", "ci-42"}) == "1");
  CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", "ci-42"}) == 0);
  CHECK_FALSE(redis.has("deploy"));
  CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", "ci-42"}) == 1);
}

TEST_CASE("--again is refused where holds are not counted, since one release would free them all") {
  RedisServer redis;
  for (const std::string type : {"plain", "permit"}) {
    Rlock acquire =
        redis.rlock("lock", "acquire", "k", "--lease", "1m", "--type", type, "--owner", "me", "--again");
    CHECK(acquire.exit_code() == 64);
    CHECK(acquire.err().starts_with("rlock: --again with --type " + type + ": "));
  }
  CHECK(redis.keys().empty());
}

TEST_CASE("an owner id that would make a plain lock look like a semaphore is refused, and takes nothing") {
  RedisServer redis;
  for (const std::string id : {"4711", "-1", "1234567890123456"}) {
    Rlock acquire = redis.rlock("lock", "acquire", "k", "--lease", "1m", "--type", "plain", "--owner=" + id);
    CHECK(acquire.exit_code() == 64);
    CHECK(contains(acquire.err(), "would look like a semaphore"));
  }
  CHECK(redis.keys().empty());
  for (const std::string id : {"id-4711", "12345678901234567"}) {
    acquired(redis, "k", {"--type", "plain", "--owner", id});
    CHECK(status_of(redis, {"lock", "release", "k", "--owner", id}) == 0);
  }
  acquired(redis, "k", {"--owner", "4711"});
  CHECK(status_of(redis, {"lock", "release", "k", "--owner", "4711"}) == 0);
}

TEST_CASE("a verb that takes only one key refuses a second --key, and does not use it instead of the first") {
  RedisServer redis;
  CHECK(status_of(redis, {"lock", "status", "-k", "a", "-k", "b"}) == 64);
  CHECK(status_of(redis, {"sem", "init", "-k", "a", "-k", "b", "1"}) == 64);
  CHECK(redis.keys().empty());
}

TEST_CASE("during a wait for several keys an owner keeps its earlier holds, and holds no others") {
  RedisServer redis;
  acquired(redis, "a", {"--owner", "ci-42"});
  acquired(redis, "c", {"--owner", "other"});
  const Words words{"lock", "acquire", "a", "b", "c", "--lease", "1m", "--owner", "ci-42"};
  Words brief = words;
  brief.insert(brief.end(), {"-w", "1s"});
  CHECK(status_of(redis, brief) == 75);
  CHECK(redis.cli({"HGET", "a", "ci-42"}) == "1");
  CHECK_FALSE(redis.has("b"));

  Rlock waits{words, redis.environment()};
  REQUIRE(eventually([&] { return redis.cli({"ZCARD", "redisson_unlock_latch:{c}:line"}) == "1"; }));
  CHECK(redis.cli({"HGET", "a", "ci-42"}) == "1");
  CHECK_FALSE(redis.has("b"));
  waits.signal(SIGTERM);
  CHECK(waits.exit_code() == 128 + SIGTERM);
  CHECK(redis.cli({"HGET", "a", "ci-42"}) == "1");
  CHECK_FALSE(redis.has("b"));

  Rlock gets{words, redis.environment()};
  REQUIRE(eventually([&] { return redis.cli({"ZCARD", "redisson_unlock_latch:{c}:line"}) == "1"; }));
  CHECK(status_of(redis, {"lock", "release", "c", "--owner", "other"}) == 0);
  CHECK(gets.exit_code() == 0);
  for (const std::string key : {"a", "b", "c"}) {
    CHECK(redis.cli({"HGET", key, "ci-42"}) == "1");
    CHECK(status_of(redis, {"lock", "release", key, "--owner", "ci-42"}) == 0);
    CHECK_FALSE(redis.has(key));
  }
}

TEST_CASE("a lock is released again if its owner id could not be printed") {
  RedisServer redis;
  for (const bool closed : {true, false}) {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    REQUIRE(full >= 0);
    Process::Options options = redis.environment();
    if (closed) {
      options.closed = {1};
    } else {
      options.descriptors = {{1, full}};
    }
    Rlock acquire{{"lock", "acquire", "deploy", "--lease", "1m"}, options};
    CHECK(acquire.exit_code() == 71);
    CHECK(contains(acquire.err(), "'deploy' was released"));
    CHECK_FALSE(redis.has("deploy"));
    ::close(full);
  }
}

TEST_CASE("nothing is printed and nothing stays held if the keeper cannot be started") {
  if (kSanitized) return skipped("at its end LeakSanitizer needs a process, too");
  RedisServer redis{{.tcp = true}};
  Process::Options options;
  options.env["RLOCK_URL"] = redis.tcp_url();
  options.env["RLOCK"] = for_everybody(redis.directory());
  for (const std::string more : {"", " --json", " --owner me"}) {
    CAPTURE(more);
    Words words;  // a limit of processes does not count for root
    if (::geteuid() == 0) words = {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"};
    words.insert(
        words.end(),
        {"sh", "-c", "prlimit --nproc=1 \"$RLOCK\" lock acquire k --while-pid $$" + more + "; exit $?"});
    Process acquire{words, options};
    CHECK(acquire.exit_code() == 71);
    CHECK(acquire.out().empty());
    CHECK(contains(acquire.err(),
                   "cannot start a process: Resource temporarily unavailable; 'k' was released"));
    CHECK_FALSE(redis.has("k"));
  }
}

TEST_CASE("a keeper ends if the owner id could not be printed, and the script goes on without a lock") {
  RedisServer redis;
  Process::Options options = redis.environment();
  options.env["RLOCK"] = rlock_binary();
  Process script{{"sh", "-c",
                  "\"$RLOCK\" lock acquire k --lease 2s --while-pid $$ >/dev/full; echo $?; "
                  "\"$RLOCK\" lock status k; sleep 2; exit 7"},
                 options};
  REQUIRE(eventually([&] { return contains(script.out(), "71\n"); }, 20s));
  CHECK(eventually([&] { return script.family().size() <= 2; }, 5s));  // sh and sleep
  CHECK(script.exit_code() == 7);
  CHECK_FALSE(redis.has("k"));
  CHECK(contains(script.err(), "write error on stdout: No space left on device; 'k' was released"));
}

TEST_CASE("a signal ends an acquire whose output is a pipe that nobody reads, and nothing stays acquired") {
  const FullPipe nobody;
  RedisServer redis;
  Process::Options options = redis.environment();
  options.descriptors[STDOUT_FILENO] = nobody.writing();
  TempDir folder;
  Process script{{"sleep", "60"}};
  const std::string keeper = "--while-pid=" + std::to_string(script.pid());
  for (const std::string& kept : {std::string{"--lease=1m"}, keeper})
    for (const int number : {SIGTERM, SIGINT}) {
      CAPTURE(kept);
      CAPTURE(number);
      const std::string events = folder / (kept + std::to_string(number));
      Rlock acquire{{"lock", "acquire", "k", kept, "--events", events}, options};
      REQUIRE(eventually([&] { return contains(read_file(events), "\"acquired\""); }, 20s));
      acquire.signal(number);
      CHECK(acquire.exit_code() == 128 + number);
      CHECK(contains(acquire.err(), "write error on stdout: Interrupted system call; 'k' was released"));
      CHECK(contains(read_file(events), "\"outcome\":\"interrupted\""));
      CHECK(contains(read_file(events), "\"event\":\"released\""));
      CHECK_FALSE(redis.has("k"));
    }
  CHECK(script.running());

  CHECK(status_of(redis, {"permit", "init", "seats", "3"}) == 0);
  Rlock permit{{"permit", "acquire", "seats", "--no-lease", "--count", "2"}, options};
  REQUIRE(eventually([&] { return redis.cli({"GET", "seats"}) == "1"; }, 20s));
  permit.signal(SIGTERM);
  CHECK(permit.exit_code() == 128 + SIGTERM);
  CHECK(redis.cli({"GET", "seats"}) == "3");

  CHECK(status_of(redis, {"sem", "init", "slots", "3"}) == 0);
  Rlock drain{{"sem", "drain", "slots"}, options};
  REQUIRE(eventually([&] { return redis.cli({"GET", "slots"}) == "0"; }, 20s));
  drain.signal(SIGTERM);
  CHECK(drain.exit_code() == 128 + SIGTERM);
  CHECK(redis.cli({"GET", "slots"}) == "3");
}

TEST_CASE("if an acquire is killed while it prints, its keeper gives the lock back") {
  const FullPipe nobody;
  RedisServer redis;
  Process::Options options = redis.environment();
  options.descriptors[STDOUT_FILENO] = nobody.writing();
  TempDir folder;
  Process script{{"sleep", "60"}};
  const std::string events = folder / "events";
  Rlock acquire{{"lock", "acquire", "k", "--while-pid", std::to_string(script.pid()), "--lease", "1m",
                 "--events", events},
                options};
  REQUIRE(eventually([&] { return acquire.family().size() == 3; }, 20s));  // it, a keeper and a guardian
  REQUIRE(contains(read_file(events), "\"acquired\""));
  acquire.signal(SIGKILL);
  CHECK(acquire.exit_code() == 128 + SIGKILL);
  CHECK(eventually([&] { return !redis.has("k"); }, 20s));
  const auto ended = [&] { return contains(lines_of(events).back(), "\"event\":\"released\""); };
  CHECK(eventually(ended, 20s));
  CHECK(contains(lines_of(events).back(), "\"outcome\":\"killed\""));
  CHECK(script.running());
}

TEST_CASE("an acquire asks once more if another one of the same owner has made its request outdated") {
  FakeRedis redis;
  std::atomic<int> asked = 0;
  redis.decide([&](const Words& command) -> std::optional<std::string> {
    if (command.front() != "EVALSHA") return std::nullopt;
    if (command[1] != rlock::scripts::lock_acquire.sha1) return wire::array({wire::text("not_ours")});
    if (++asked == 1) return wire::array({wire::text("not_ours")});
    return wire::array({wire::text("held"), wire::integer(1000)});
  });
  Rlock acquire{{"lock", "acquire", "k", "--owner", "me", "--lease", "1m", "-u", redis.url()}};
  CHECK(acquire.exit_code() == 0);
  CHECK(acquire.out() == "me\n");
  CHECK(asked == 2);
}

TEST_CASE("of an acquire that could not be printed, each key is told what became of it") {
  RedisServer redis;
  Process::Options options = redis.environment();
  const Descriptor full{::open("/dev/full", O_WRONLY | O_CLOEXEC)};
  options.descriptors[STDOUT_FILENO] = full.number();
  TempDir folder;
  const auto why = [&](Words words, const std::string& end) {
    CAPTURE(words);
    const std::string events = folder / "events";
    words.insert(words.end(), {"--owner", "me", "--lease", "1m", "--events", events});
    Rlock acquire{words, options};
    CHECK(acquire.exit_code() == 71);
    CHECK(contains(lines_of(events).back(), "\"event\":\"" + end + "\""));
    return acquire.err();
  };
  for (const char* key : {"a", "b"})
    REQUIRE(status_of(redis, {"lock", "acquire", key, "--owner", "me", "--lease", "1m"}) == 0);
  CHECK(contains(why({"lock", "acquire", "a", "b", "c"}, "released"),
                 "; 'c' was released; 'a', 'b' stay held, as they were before"));
  CHECK(contains(why({"lock", "acquire", "c", "d"}, "released"), "; 'c', 'd' were released"));
  CHECK(contains(why({"lock", "acquire", "a", "--again"}, "released"), "; the new hold of 'a' was released"));
  CHECK(contains(why({"lock", "acquire", "a"}, "ended"), "; 'a' stays held, as it was before"));
  CHECK(redis.cli({"HGET", "a", "me"}) == "1");
}

TEST_CASE(
    "after a signal --export still prints code that fails, so that the script does not go on without the lock") {
  FullPipe shell;
  RedisServer redis;
  Process::Options options = redis.environment();
  options.descriptors[STDOUT_FILENO] = shell.writing();
  TempDir folder;
  const std::string events = folder / "events";
  Rlock acquire{{"lock", "acquire", "k", "--lease", "1m", "--export", "--events", events}, options};
  REQUIRE(eventually([&] { return contains(read_file(events), "\"acquired\""); }, 20s));
  acquire.signal(SIGTERM);
  CHECK(eventually([&] { return !redis.has("k"); }, 20s));
  CHECK(shell.read_all().ends_with("(exit 143)\n"));
  CHECK(acquire.exit_code() == 143);
}

TEST_CASE(
    "an undo at a frozen server ends soon, at a second signal at once, and the server does it when it wakes up") {
  const FullPipe nobody;
  RedisServer redis;
  Process::Options options = redis.environment();
  options.descriptors[STDOUT_FILENO] = nobody.writing();
  TempDir folder;
  // All keys together get a second, or 6 s if they are 1000.
  for (const auto& [count, deadline] : {std::pair{1, 15s}, {30, 15s}, {1000, 5s}}) {
    CAPTURE(count);
    const std::string events = folder / std::to_string(count);
    Words words{"lock", "acquire", "--lease=10m", "--events", events};
    for (int i = 0; i < count; ++i) words.push_back(std::to_string(count) + "." + std::to_string(i));
    Rlock acquire{words, options};
    REQUIRE(eventually([&] { return contains(read_file(events), "\"acquired\""); }, 60s));
    redis.freeze();
    acquire.signal(SIGTERM);
    if (count > 30) acquire.signal(SIGINT);  // the kernel would merge a second SIGTERM with the first
    CHECK(acquire.exit_code(deadline) > 128);
    const std::string which = count == 1 ? "it" : "each";
    CHECK(contains(acquire.err(), " not confirmed; " + which + " expires within 10m"));
    redis.thaw();
    if (count == 1) CHECK(eventually([&] { return !redis.has(words.back()); }, 20s));
  }
}

TEST_CASE("--again adds a hold to each key that the owner holds, and acquires the others") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced", "write"}) {
    CAPTURE(type);
    const auto acquire = [&](Words words) {
      words.insert(words.end(), {"--type", type, "--owner", "me", "--lease", "1m"});
      return status_of(redis, std::move(words));
    };
    CHECK(acquire({"lock", "acquire", "a"}) == 0);
    CHECK(acquire({"lock", "acquire", "a", "b", "c", "--again"}) == 0);
    CHECK(status_of(redis, {"lock", "release", "a", "b", "c", "--owner", "me"}) == 0);
    CHECK(redis.has("a"));  // the first hold
    CHECK_FALSE(redis.has("b"));
    CHECK_FALSE(redis.has("c"));
    CHECK(status_of(redis, {"lock", "release", "a", "--owner", "me"}) == 0);
    CHECK_FALSE(redis.has("a"));
  }
}

TEST_CASE("an acquire that could not be printed reports no release of a key that stays held") {
  RedisServer redis;
  TempDir folder;
  const Words acquire{"lock", "acquire", "k", "--owner", "me", "--lease", "1m"};
  CHECK(status_of(redis, acquire) == 0);
  const Descriptor full{::open("/dev/full", O_WRONLY | O_CLOEXEC)};
  Process::Options options = redis.environment();
  options.descriptors = {{STDOUT_FILENO, full.number()}};
  Words reported = acquire;
  reported.insert(reported.end(), {"--events", folder / "events"});
  Rlock again{reported, options};
  CHECK(again.exit_code() == 71);
  CHECK(contains(again.err(), "'k' stays held, as it was before"));
  CHECK(contains(read_file(folder / "events"), "\"event\":\"ended\""));
  CHECK_FALSE(contains(read_file(folder / "events"), "\"event\":\"released\""));
  CHECK(redis.has("k"));
}

TEST_CASE("permits that could not be printed are only called released if the server has said so") {
  RedisServer redis;
  CHECK(status_of(redis, {"permit", "init", "seats", "3"}) == 0);
  CHECK(status_of(redis, {"sem", "init", "slots", "3"}) == 0);
  const auto run = [&](const std::string& line, const std::string& key, const std::string& left) {
    CAPTURE(line);
    FullPipe nobody;
    Process::Options options = redis.environment();
    options.descriptors[STDOUT_FILENO] = nobody.writing();
    const std::string facts = redis.cli({"HLEN", "rlock:meta:{seats}"});
    Rlock rlock{split(line, ' '), options};
    REQUIRE(eventually([&] { return redis.cli({"GET", key}) == left; }, 20s));
    // A server that wakes up reads no more than 16 KiB from a client that is gone. So the metadata must not come then, too.
    if (key == "seats")
      REQUIRE(eventually([&] { return redis.cli({"HLEN", "rlock:meta:{seats}"}) != facts; }, 20s));
    REQUIRE(redis.cli({"PING"}) == "PONG");  // the answer of the turn before has left the server
    redis.freeze();
    nobody.close_reader();
    CHECK(rlock.exit_code(20s) == 71);
    redis.thaw();
    CHECK(contains(rlock.err(), "write error on stdout: Broken pipe\n"));
    CHECK_FALSE(contains(rlock.err(), "released"));
    CHECK(eventually([&] { return redis.cli({"GET", key}) == "3"; },
                     20s));  // the server reads it when it wakes up
    return rlock.err();
  };
  CHECK(contains(run("permit acquire seats --lease 10m --count 2", "seats", "1"),
                 "release of permits of 'seats' not confirmed; each expires within 10m"));
  CHECK(contains(run("permit acquire seats --no-lease", "seats", "2"), "; see their ids: rlock inspect -v"));
  CHECK(contains(run("sem drain slots", "slots", "0"),
                 "release of permits of 'slots' not confirmed (no answer within 1s); see: rlock sem status"));
}

TEST_CASE("--json tells all facts of an acquire") {
  RedisServer redis;
  Rlock acquire = redis.rlock("lock", "acquire", "deploy", "--lease", "90s", "--owner", "me", "--type",
                              "fenced", "--json");
  CHECK(acquire.exit_code() == 0);
  CHECK(acquire.out().starts_with(
      R"({"v":1,"key":"deploy","name":"deploy","type":"fenced","owner":"me","fence":1,"slots":null,"lease_ms":90000,"acquired_at":)"));
}

TEST_CASE("acquire takes several permits of a pool, says their slots, and release gives all of them back") {
  RedisServer redis;
  const auto ended = [&](Words words) {
    Rlock rlock{std::move(words), redis.environment()};
    const int status = rlock.exit_code();
    return std::pair{status, rlock.out()};
  };
  const auto [status, document] = ended({"lock", "acquire", "seats", "--lease", "1m", "--permits", "5",
                                         "--count", "2", "--owner", "me", "--json"});
  REQUIRE(status == 0);
  CHECK(contains(document, R"("type":"permit","owner":"me","fence":null,"slots":[0,1],)"));
  CHECK(redis.cli({"GET", "seats"}) == "3");
  const auto [exported, text] =
      ended({"lock", "acquire", "seats", "--lease", "1m", "--count", "3", "--owner", "you", "--export"});
  CHECK(exported == 0);
  CHECK(contains(text, "RLOCK_SLOT='2'"));
  CHECK(contains(text, "RLOCK_SLOTS='2\n3\n4'"));
  CHECK(ended({"lock", "acquire", "-n", "seats", "--lease", "1m", "--count", "1"}).first == 75);
  CHECK(ended({"lock", "release", "seats", "--owner", "me"}).first == 0);
  CHECK(redis.cli({"GET", "seats"}) == "2");
  CHECK(ended({"lock", "acquire", "seats", "--lease", "1m", "--permits", "2", "--count", "3"}).first == 64);
  CHECK(ended({"lock", "acquire", "seats", "--lease", "1m", "--count", "2", "--fair"}).first == 64);
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

TEST_CASE("a wait that a signal ends dies of it, and its place in the queue is given back") {
  RedisServer redis;
  acquired(redis, "deploy", {"--type", "fair"});
  Rlock waiter = redis.rlock("lock", "acquire", "deploy", "--lease", "1m", "--type", "fair");
  REQUIRE(eventually([&] { return redis.cli({"LLEN", "redisson_lock_queue:{deploy}"}) == "1"; }));
  waiter.signal(SIGTERM);
  CHECK(waiter.exit_code() == 128 + SIGTERM);
  CHECK(redis.cli({"LLEN", "redisson_lock_queue:{deploy}"}) == "0");
}
