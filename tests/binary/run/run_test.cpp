// `rlock run` on one server, as a user runs it.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/hello.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/unloaded_watch.h"

using namespace rlock::test;

namespace {

/// Starts a run that holds `key` until the test ends it.
Rlock holder(const RedisServer& redis, const std::string& key) {
  Rlock run = redis.rlock("run", "-k", key, "--reason", "hotfix 42", "--", "sleep", "60");
  return run;
}

}  // namespace

TEST_CASE("a command runs under the lock, is told about it, and the lock is gone afterwards") {
  RedisServer redis;
  Rlock run = redis.rlock(
      "run", "-k", "k", "--", "sh", "-c",
      "echo $RLOCK_HELD $RLOCK_LOCK $RLOCK_TYPE $RLOCK_LEASE_MS; env | grep -c RLOCK_FENCE; true");

  CHECK(run.exit_code() == 0);
  CHECK(run.out() == "1 k lock 30000\n0\n");
  CHECK(run.err().empty());
  CHECK(redis.keys().empty());
}

TEST_CASE("the command's exit status is rlock's, and the signal that killed it too") {
  RedisServer redis;

  CHECK(redis.rlock("run", "-k", "k", "--", "sh", "-c", "exit 42").exit_code() == 42);
  Rlock killed = redis.rlock("run", "-k", "k", "--", "sh", "-c", "kill -USR2 $$");
  const int status = killed.wait_status();
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGUSR2);
  CHECK(redis.keys().empty());
}

TEST_CASE("a busy lock: 75 at once with -n, or the status of -E, with a line about the holder") {
  RedisServer redis;
  Rlock held = holder(redis, "deploy");
  REQUIRE(eventually([&] { return redis.has("deploy"); }));

  Rlock busy = redis.rlock("run", "-n", "-k", "deploy", "--", "true");
  CHECK(busy.exit_code() == 75);
  CHECK(contains(busy.err(), "'deploy' is held by "));
  CHECK(contains(busy.err(), "(sleep) \"hotfix 42\""));
  CHECK_FALSE(contains(busy.err(), "unlock"));  // its holder is alive
  Rlock quiet = redis.rlock("run", "-nqE0", "-k", "deploy", "--", "true");
  CHECK(quiet.exit_code() == 0);
  CHECK(quiet.err().empty());
}

TEST_CASE("a wait that ends is 75, and lines say why it lasted") {
  RedisServer redis;
  Rlock held = holder(redis, "k");
  REQUIRE(eventually([&] { return redis.has("k"); }));
  StopWatch watch;

  Rlock waiter = redis.rlock("run", "-w", "1500ms", "-k", "k", "--", "true");
  CHECK(waiter.exit_code() == 75);
  CHECK(watch.elapsed() >= 1500ms);
  CHECK(contains(waiter.err(), "rlock: waiting for 'k': held by "));
  CHECK(contains(waiter.err(), "1st of 1"));
  CHECK(gave_up_after(waiter.err()) >= 1.5);
  CHECK(contains(waiter.err(), "s: 'k' is held by "));
}

TEST_CASE("a wait that ends when its first line is due names the holder all the same") {
  RedisServer redis;
  Rlock held = holder(redis, "k");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{k}"); }));

  Rlock waiter = redis.rlock("run", "-w", "1s", "-k", "k", "--", "true");
  CHECK(waiter.exit_code() == 75);
  CHECK(contains(waiter.err(), "(sleep) \"hotfix 42\""));
  CHECK_FALSE(contains(waiter.err(), "Redisson"));
}

TEST_CASE("a waiter learns that --min-hold keeps the lock, even if it waited before") {
  RedisServer redis;
  Rlock job = redis.rlock("run", "-k", "k", "--min-hold", "1m", "-c",
                          "trap 'exit 0' TERM; echo ready; sleep 60 & wait");
  REQUIRE(eventually([&] { return job.out() == "ready\n"; }));
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{k}"); }));
  Rlock waiter = redis.rlock("run", "-k", "k", "--", "true");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 1; }));
  waiter.signal(SIGUSR1);
  REQUIRE(eventually([&] { return contains(waiter.err(), "pid"); }));

  job.signal(SIGTERM);
  CHECK(job.exit_code() == 0);
  waiter.signal(SIGUSR1);
  CHECK(eventually([&] { return contains(waiter.err(), "(exit 0)"); }));
  waiter.signal(SIGTERM);
}

TEST_CASE("a waiter is woken by the release and not by the clock") {
  RedisServer redis;
  Rlock first = redis.rlock("run", "-k", "k", "--", "cat");
  REQUIRE(eventually([&] { return redis.has("k") || !first.running(); }));
  Rlock held = holder(redis, "other");
  REQUIRE(eventually([&] { return redis.has("other"); }));
  Rlock waiter = redis.rlock("run", "-k", "other", "--", "true");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{other}") == 1; }));
  Monitor monitor{redis};
  const UnloadedWatch watch{{redis.pid(), held.pid(), waiter.pid()}};
  held.signal(SIGTERM);

  CHECK(watch.until_end_of(waiter.pid(), 30s) < 1900ms);  // a waiter that polls would need up to 2 s
  CHECK(waiter.exit_code() == 0);
  // The waiter ends its subscription. Otherwise it would count as another client's waiter until its process ends.
  CHECK(eventually([&] {
    return std::ranges::any_of(monitor.commands(),
                               [](const std::string& line) { return contains(line, "\"UNSUBSCRIBE\""); });
  }));
}

TEST_CASE("a waiter that is interrupted dies of the signal and leaves nothing behind") {
  RedisServer redis;
  Rlock held = holder(redis, "k");
  REQUIRE(eventually([&] { return redis.has("k"); }));
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    Rlock waiter = redis.rlock("run", "-q", "-k", "k", "--", "true");
    REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 1; }));
    waiter.signal(number);
    CHECK(WTERMSIG(waiter.wait_status()) == number);
    CHECK(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 0; }));
  }
  held.signal(SIGTERM);
  held.exit_code();
  CHECK(redis.keys().empty());
}

TEST_CASE("a wait line shows the rest of the lease now, not at the start of the wait") {
  RedisServer redis;
  redis.cli({"HSET", "theirs", "8d1f2c3a-1111-4222-8333-444455556666:57", "1"});
  redis.cli({"PEXPIRE", "theirs", "200000"});
  CHECK(redis.rlock("run", "-k", "kept", "--min-hold", "200s", "--", "true").exit_code() == 0);

  Rlock theirs = redis.rlock("run", "-w", "1500ms", "-k", "theirs", "--", "true");
  Rlock kept = redis.rlock("run", "-w", "1500ms", "-k", "kept", "--", "true");

  CHECK(theirs.exit_code() == 75);
  CHECK(contains(
      theirs.err(),
      "waiting for 'theirs': held by 8d1f2c...:57 (a Redisson client); 1st of 1 in the queue; expires in 3m1"));
  CHECK(kept.exit_code() == 75);
  CHECK(contains(kept.err(), "; 1st of 1 in the queue; kept 3m1"));
  CHECK_FALSE(contains(theirs.err() + kept.err(), "3m20s"));
}

TEST_CASE("USR1 makes a quiet waiter print a wait line") {
  RedisServer redis;
  Rlock held = holder(redis, "k");
  REQUIRE(eventually([&] { return redis.has("k"); }));
  Rlock waiter = redis.rlock("run", "-q", "-k", "k", "--", "true");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 1; }));

  waiter.signal(SIGUSR1);

  CHECK(eventually([&] { return contains(waiter.err(), "waiting for 'k': held by "); }));
}

TEST_CASE("a nested run of the same key is one more hold and no deadlock") {
  RedisServer redis;
  const std::string rlock = rlock_binary();
  Rlock run = redis.rlock("run", "-n", "-k", "k", "--", rlock, "run", "-n", "-k", "k", "--", "sh", "-c",
                          "redis-cli -s " + redis.socket() + " hvals k");

  CHECK(run.exit_code() == 0);
  CHECK(run.out() == "2\n");
  CHECK_FALSE(redis.has("k"));
  CHECK_FALSE(redis.has("rlock:meta:{k}"));
}

TEST_CASE("a nested run of another key joins no hold, and neither does one whose outer hold is stale") {
  RedisServer redis;
  const std::string rlock = rlock_binary();
  Rlock held = holder(redis, "b");
  REQUIRE(eventually([&] { return redis.has("b"); }));
  Rlock other = redis.rlock("run", "-k", "a", "--", rlock, "run", "-nq", "-k", "b", "--", "true");
  CHECK(other.exit_code() == 75);

  Process::Options options = redis.environment();
  options.env["RLOCK_STACK"] = "lock 00000000-0000-4000-8000-000000000000:1 b";
  CHECK(Rlock{{"run", "-nq", "-k", "b", "--", "true"}, options}.exit_code() == 75);
  options.env["RLOCK_STACK"] = "lock 00000000-0000-4000-8000-000000000000:1 free";
  CHECK(Rlock{{"run", "-nq", "-k", "free", "--", "true"}, options}.exit_code() == 0);
}

TEST_CASE("beside a stale hold in RLOCK_STACK, the other holds in it are still joined") {
  RedisServer redis;
  redis.cli({"HSET", "a", "outer:1", "1"});
  redis.cli({"PEXPIRE", "a", "60000"});
  Process::Options options = redis.environment();
  options.env["RLOCK_STACK"] = "lock outer:1 a\nlock gone:1 a\nlock gone:2 b";
  CHECK(Rlock{{"run", "-nq", "-k", "a", "-k", "b", "--", "true"}, options}.exit_code() == 0);
  CHECK(redis.cli({"HGET", "a", "outer:1"}) == "1");
  CHECK_FALSE(redis.has("b"));
}

TEST_CASE("--min-hold keeps the key for the rest of its time, and the next caller is told so") {
  RedisServer redis;
  StopWatch watch;
  CHECK(redis.rlock("run", "-k", "report", "--min-hold", "60s", "--", "true").exit_code() == 0);
  CHECK(watch.elapsed() < 10s);

  const long long rest = redis.pttl("report");
  CHECK(rest > 40'000);
  CHECK(rest <= 60'000);
  Rlock next = redis.rlock("run", "-n", "-k", "report", "--", "true");
  CHECK(next.exit_code() == 75);
  CHECK(contains(next.err(), "(true), finished "));
  CHECK(contains(next.err(), "more by --min-hold"));
}

TEST_CASE("--min-hold does not hold a command that could not start") {
  RedisServer redis;
  CHECK(redis.rlock("run", "-k", "k", "--min-hold", "60s", "--", "/etc/passwd").exit_code() == 126);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("--min-hold also keeps the key if the command itself exits with 126 or 127") {
  RedisServer redis;
  for (const int status : {126, 127}) {
    const std::string key = std::to_string(status);
    CHECK(redis.rlock("run", "-k", key, "--min-hold", "60s", "-c", "exit " + key).exit_code() == status);
    CHECK(redis.has(key));
  }
}

TEST_CASE("a missing command costs no round trip: 127") {
  RedisServer redis;
  Monitor monitor{redis};
  CHECK(redis.rlock("run", "-k", "k", "--", "no-such-command").exit_code() == 127);
  CHECK(redis.rlock("run", "-k", "k", "--", "/no/such/command").exit_code() == 127);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("an uncontended run is one connection, one greeting, one acquire and one release") {
  RedisServer redis;
  redis.rlock("run", "-k", "k", "--", "true").exit_code();  // loads the scripts
  Monitor monitor{redis};
  CHECK(redis.rlock("run", "-k", "k", "--", "true").exit_code() == 0);

  std::vector<std::string> verbs;
  for (const std::string& line : monitor.commands()) verbs.push_back(line.substr(0, line.find(' ')));
  const std::vector<std::string> scripts{"\"EVALSHA\"", "\"EVALSHA\""};  // the acquire or release, and the
                                                                         // write of facts behind it
  std::vector<std::string> expected{"\"HELLO\""};
  if (!knows_hello(redis)) expected = {scripts[0], scripts[1], "\"CLIENT\"", "\"INFO\"", "\"INFO\""};
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), scripts.begin(), scripts.end());
  CHECK(verbs == expected);
}

TEST_CASE("a key that holds something else is 65 and stays as it is") {
  RedisServer redis;
  redis.cli({"SET", "k", "text"});
  Rlock run = redis.rlock("run", "-k", "k", "--", "true");

  CHECK(run.exit_code() == 65);
  CHECK(contains(run.err(), "'k' holds "));
  CHECK(redis.cli({"GET", "k"}) == "text");
}

TEST_CASE("rlock waits for a lock without a TTL, and says that it has none") {
  RedisServer redis;
  redis.cli({"HSET", "k", "6e0f0261-922f-4ca9-9275-5cd246e2e294:57", "1"});
  Rlock run = redis.rlock("run", "-n", "-k", "k", "--", "true");

  CHECK(run.exit_code() == 75);
  CHECK(contains(run.err(), "6e0f02...:57 (a Redisson client)"));
  CHECK(contains(run.err(), "no TTL: the key never expires"));
}

TEST_CASE("a missing server is 69 at once, with the remedy; with --wait rlock waits for it") {
  const std::string url = "redis://127.0.0.1:" + std::to_string(free_port());
  StopWatch watch;
  Rlock run{{"run", "-u", url, "-k", "k", "--", "true"}};
  CHECK(run.exit_code() == 69);
  CHECK(watch.elapsed() < 2s);
  CHECK(contains(run.err(), "onnection refused"));
  CHECK(contains(run.err(), "--url"));

  Rlock patient{{"run", "-u", url, "-w", "700ms", "-k", "k", "--", "true"}};
  CHECK(patient.exit_code() == 69);
  CHECK(watch.elapsed() >= 700ms);
  CHECK(contains(patient.err(), "--url"));
  CHECK_FALSE(contains(patient.err(), "--wait"));  // it has waited already
}

TEST_CASE("a lock that is gone at its release was lost while the command ran: 125") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--", "redis-cli", "-s", redis.socket(), "del", "k");

  CHECK(run.exit_code() == 125);
  CHECK(contains(run.err(), "lost 'k'"));
}

TEST_CASE("several keys are taken sorted, each once, all or none") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "b", "-k", "a", "-k", "b", "--", "sh", "-c", "echo \"$RLOCK_LOCKS\"");
  CHECK(run.exit_code() == 0);
  CHECK(run.out() == "a\nb\n");

  Rlock held = holder(redis, "c");
  REQUIRE(eventually([&] { return redis.has("c"); }));
  Rlock busy = redis.rlock("run", "-n", "-k", "a", "-k", "c", "--", "true");
  CHECK(busy.exit_code() == 75);
  CHECK(contains(busy.err(), "'c' is held by "));
  CHECK_FALSE(redis.has("a"));
}

TEST_CASE("a sleeping waiter sends nothing but its poll, and that rarely") {
  RedisServer redis;
  Rlock held = redis.rlock("run", "-v", "-k", "k", "--", "sleep", "60");
  // After one second the holder listens and renews. Then it sends nothing for ten seconds.
  REQUIRE(eventually([&] { return contains(held.err(), "renewed 'k'"); }));
  Rlock waiter = redis.rlock("run", "-q", "-k", "k", "--", "true");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 1; }));
  // The holder, the waiter, the key and its queue have a channel each.
  REQUIRE(eventually([&] {
    return rlock::split(redis.cli({"PUBSUB", "CHANNELS", "redisson_lock__channel:{k}*"}), '\n').size() == 4;
  }));
  // Each acquire is followed, in the same write, by the write of the waiter's facts.
  const auto polled = [](const std::vector<std::string>& lines) {
    return std::count_if(lines.begin(), lines.end(), [](const auto& line) {
      return !contains(line, "\"HELLO\"") && !contains(line, "\"rlock:meta:{k}\"");
    });
  };
  Monitor monitor{redis};

  // In 4 s the waiter polls twice. One more acquire may follow right after the subscription.
  CHECK(throughout([&] { return polled(monitor.commands()) <= 3; }, 4s));
}
