// rlock unlock, as the person sees it who removes a lock by force.

#include <doctest/doctest.h>

#include <csignal>

#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"

namespace rlock::test {
namespace {

/// Somebody has taken 'deploy'.
void hold(const RedisServer& redis, const Words& more = {}) {
  Words words{"lock", "acquire", "-n", "deploy", "--lease", "1m"};
  words.insert(words.end(), more.begin(), more.end());
  REQUIRE(status_of(redis, words) == 0);
}

}  // namespace

TEST_CASE("unlock without a terminal needs --yes, and removes nothing without it") {
  RedisServer redis;
  hold(redis);
  Process::Options options = redis.environment();
  options.own_session = true;
  Rlock unlock{{"unlock", "deploy"}, options};
  CHECK(unlock.exit_code() == 64);
  CHECK(unlock.err().find("say --yes") != std::string::npos);
  CHECK(redis.has("deploy"));
}

TEST_CASE("unlock --yes says what it removes, and wakes who waits") {
  RedisServer redis;
  hold(redis);
  Rlock waiter = redis.rlock("lock", "acquire", "deploy", "--lease", "1m");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{deploy}") == 1; }));

  Rlock unlock = redis.rlock("unlock", "--yes", "deploy");
  CHECK(unlock.exit_code() == 0);
  CHECK(unlock.out().empty());
  CHECK(unlock.err().find("deploy        lock, held, 1 waits\n") != std::string::npos);
  CHECK(unlock.err().find("rlock: nobody renews it; ") != std::string::npos);
  CHECK(waiter.exit_code() == 0);
}

TEST_CASE("unlock says that a holder who renews is alive, and when it will learn of this") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "deploy", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{deploy}"); }));
  Rlock unlock = redis.rlock("unlock", "--yes", "deploy");
  CHECK(unlock.exit_code() == 0);
  CHECK(unlock.err().find("rlock: its holder is alive, and works on until it hears of this, within ") !=
        std::string::npos);
  run.signal(SIGTERM);
  CHECK(run.exit_code() != 0);
}

TEST_CASE("what unlock refuses keeps what is known of its holders, and no history says that it was removed") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "--permits", "2", "-k", "pool", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{pool}"); }));
  for (const Words& words :
       {Words{"unlock", "--yes", "pool"}, Words{"unlock", "--yes", "--type", "permit", "pool"}}) {
    CHECK(status_of(redis, words) == 65);
    CHECK(redis.cli({"HLEN", "rlock:meta:{pool}"}) == "1");
    CHECK_FALSE(redis.has("rlock:history:{pool}"));
  }
  run.signal(SIGTERM);
  CHECK(run.exit_code() != 0);
}

TEST_CASE("unlock wakes the head of a fair queue") {
  RedisServer redis;
  hold(redis, {"--type", "fair"});
  Rlock waiter = redis.rlock("lock", "acquire", "deploy", "--lease", "1m", "--type", "fair");
  REQUIRE(eventually([&] { return redis.cli({"LLEN", "redisson_lock_queue:{deploy}"}) == "1"; }));
  REQUIRE(eventually([&] { return redis.cli({"PUBSUB", "CHANNELS"}) != ""; }));

  CHECK(status_of(redis, {"unlock", "--yes", "deploy"}) == 0);
  CHECK(waiter.exit_code() == 0);
}

TEST_CASE("unlock asks, and leaves the lock alone unless the answer is yes") {
  RedisServer redis;
  hold(redis);
  {
    Pty pty{{rlock_binary(), "unlock", "deploy"}, redis.environment()};
    pty.expect("Remove the lock 'deploy'? [y/N] ");
    pty.type("n\r");
    CHECK(pty.exit_code() == 1);
    CHECK(redis.has("deploy"));
  }
  {
    Pty pty{{rlock_binary(), "unlock", "deploy"}, redis.environment()};
    pty.expect("[y/N] ");
    pty.type(Pty::kInterrupt);
    CHECK(pty.exit_code() == 128 + SIGINT);
    CHECK(redis.has("deploy"));
  }
  Pty pty{{rlock_binary(), "unlock", "deploy"}, redis.environment()};
  pty.expect("[y/N] ");
  pty.type("y\r");
  CHECK(pty.exit_code() == 0);
  CHECK_FALSE(redis.has("deploy"));
}

TEST_CASE("unlock removes whom it has shown, and not who came while the person thought") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "plain", "write", "read"}) {
    CAPTURE(type);
    hold(redis, {"--owner", "seen", "--type", type});
    Pty pty{{rlock_binary(), "unlock", "deploy"}, redis.environment()};
    pty.expect("[y/N] ");
    CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", "seen"}) == 0);
    hold(redis, {"--owner", "newcomer", "--type", type});
    pty.type("y\r");
    pty.expect("'deploy' is held by newcomer by now");
    CHECK(pty.exit_code() == 1);
    CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", "newcomer"}) == 0);
  }
}

TEST_CASE("unlock is guarded by --if-owner") {
  RedisServer redis;
  hold(redis, {"--owner", "ci-42"});
  CHECK(status_of(redis, {"unlock", "--yes", "--if-owner", "ci-41", "deploy"}) == 1);
  CHECK(redis.has("deploy"));
  CHECK(status_of(redis, {"unlock", "--yes", "--if-owner", "ci-42", "deploy"}) == 0);
  CHECK(status_of(redis, {"unlock", "--yes", "deploy"}) == 1);
}

}  // namespace rlock::test
