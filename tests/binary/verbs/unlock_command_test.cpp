// rlock unlock, as a person uses it to remove a lock by force.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/full_pipe.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/resp_client.h"
#include "support/state_home.h"

using namespace rlock::test;

namespace {

/// Takes 'deploy'.
void hold_deploy(const RedisServer& redis, const Words& more = {}) {
  Words words{"lock", "acquire", "-n", "deploy", "--lease", "1m"};
  words.insert(words.end(), more.begin(), more.end());
  REQUIRE(status_of(redis, words) == 0);
}

/// The output of a command that succeeds.
std::string said(const RedisServer& redis, const Words& words) {
  Rlock rlock{words, redis.environment()};
  CHECK(rlock.exit_code() == 0);
  return rlock.out();
}

/// Waits until rlock has the answer about 'deploy' and sleeps: it waits for somebody who reads.
void expect_to_write(RedisServer& redis, Monitor& monitor, pid_t rlock) {
  const auto is_about_it = [](const std::string& command) { return contains(command, "\"deploy\""); };
  REQUIRE(eventually([&] { return std::ranges::any_of(monitor.commands(), is_about_it); }));
  redis.cli({"PING"});  // the server has sent its answer
  REQUIRE(eventually([&] { return state_of(rlock) == 'S'; }));
}

}  // namespace

TEST_CASE("unlock without a terminal needs --yes, and removes nothing without it") {
  RedisServer redis;
  hold_deploy(redis);
  Process::Options options = redis.environment();
  options.own_session = true;
  Rlock unlock{{"unlock", "deploy"}, options};
  CHECK(unlock.exit_code() == 64);
  CHECK(contains(unlock.err(), "to go on without a question: --yes"));
  CHECK(redis.has("deploy"));
}

TEST_CASE("unlock --yes names the removed lock, and wakes the waiters") {
  RedisServer redis;
  hold_deploy(redis);
  Rlock waiter = redis.rlock("lock", "acquire", "deploy", "--lease", "1m");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{deploy}") == 1; }));

  Rlock unlock = redis.rlock("unlock", "--yes", "deploy");
  CHECK(unlock.exit_code() == 0);
  CHECK(unlock.out().empty());
  CHECK(contains(unlock.err(), "deploy        lock, held, 1 waits\n"));
  CHECK(contains(unlock.err(), "rlock: no process renews it, "));
  CHECK(waiter.exit_code() == 0);
}

TEST_CASE("unlock sends no notice to a client of Redisson, which would take it for a damaged message") {
  const std::string java = "8d1f2c3a-1111-4222-8333-444455556666:57", rlock = "ci:1";
  RedisServer redis;
  RespClient listener{redis.where()};
  for (const std::string& owner : {java, rlock})
    listener.ask({"SUBSCRIBE", "redisson_lock__channel:{deploy}:" + owner});
  redis.cli({"HSET", "deploy", java, "1"});
  CHECK(status_of(redis, {"unlock", "--yes", "deploy"}) == 0);
  hold_deploy(redis, {"--owner", rlock});
  CHECK(status_of(redis, {"unlock", "--yes", "deploy"}) == 0);
  CHECK(contains(listener.receive(), "}:" + rlock + "\nremoved\n"));
}

TEST_CASE("a holder of rlock's whose facts are gone gets the notice, too") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "deploy", "--lease", "1h", "--", "sleep", "60");
  REQUIRE(eventually([&] { return contains(redis.cli({"PUBSUB", "CHANNELS"}), ":{deploy}:"); }, 10s));
  redis.del("rlock:meta:{deploy}");
  CHECK(status_of(redis, {"unlock", "--yes", "deploy"}) == 0);
  CHECK(run.exit_code() == 125);
}

TEST_CASE("unlock reports that a renewing holder is alive, and when it will learn of the removal") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "deploy", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{deploy}"); }));
  Rlock unlock = redis.rlock("unlock", "--yes", "deploy");
  CHECK(unlock.exit_code() == 0);
  CHECK(contains(unlock.err(),
                 "rlock: the holder is alive, and its command runs until it hears of this, within "));
  run.signal(SIGTERM);
  CHECK(run.exit_code() != 0);
}

TEST_CASE("a refused unlock keeps the facts of the holders, and adds nothing to the history") {
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

TEST_CASE("unlock --json tells of a key that it refuses, and removes no other") {
  RedisServer redis;
  redis.cli({"RPUSH", "list", "a"});
  redis.cli({"SET", "text", "a"});
  hold_deploy(redis, {"--type", "lock"});
  for (const Words& keys : {Words{"list"}, Words{"text"}, Words{"deploy", "list"}, Words{"deploy", "text"}}) {
    Words words{"unlock", "--json", "--yes"};
    words.insert(words.end(), keys.begin(), keys.end());
    Rlock unlock{words, redis.environment()};
    CHECK(unlock.exit_code() == 65);
    CHECK_MESSAGE(contains(unlock.out(), "{\"v\":1,\"keys\":[{\"key\":\"" + keys.back() + "\""),
                  unlock.out());
    CHECK_MESSAGE(contains(unlock.out(), "\"outcome\":\"refused\",\"owners\":[],\"error\":\"'" + keys.back()),
                  unlock.out());
    CHECK_MESSAGE(unlock.err().starts_with("rlock: '" + keys.back() + "' "), unlock.err());
    CHECK(std::ranges::count(unlock.err(), '\n') == 1);
  }
  CHECK(redis.has("deploy"));
}

TEST_CASE("unlock wakes the head of a fair queue") {
  RedisServer redis;
  hold_deploy(redis, {"--type", "fair"});
  Rlock waiter = redis.rlock("lock", "acquire", "deploy", "--lease", "1m", "--type", "fair");
  REQUIRE(eventually([&] { return redis.cli({"LLEN", "redisson_lock_queue:{deploy}"}) == "1"; }));
  REQUIRE(eventually([&] { return redis.cli({"PUBSUB", "CHANNELS"}) != ""; }));

  CHECK(status_of(redis, {"unlock", "--yes", "deploy"}) == 0);
  CHECK(waiter.exit_code() == 0);
}

TEST_CASE("unlock asks, and leaves the lock alone unless the answer is yes") {
  RedisServer redis;
  hold_deploy(redis);
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
  for (const int number : {SIGTERM, SIGHUP, SIGALRM}) {
    CAPTURE(number);
    Pty pty{{rlock_binary(), "unlock", "deploy"}, redis.environment()};
    pty.expect("[y/N] ");
    ::kill(pty.pid(), number);
    CHECK(pty.exit_code() == 128 + number);
    CHECK(redis.has("deploy"));
  }
  Pty pty{{rlock_binary(), "unlock", "deploy"}, redis.environment()};
  pty.expect("[y/N] ");
  pty.type("y\r");
  CHECK(pty.exit_code() == 0);
  CHECK_FALSE(redis.has("deploy"));
}

TEST_CASE("unlock removes the holders that it has shown, and none that came while the person thought") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "plain", "write", "read"}) {
    CAPTURE(type);
    hold_deploy(redis, {"--owner", "seen", "--type", type});
    Pty pty{{rlock_binary(), "unlock", "deploy"}, redis.environment()};
    pty.expect("[y/N] ");
    CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", "seen"}) == 0);
    hold_deploy(redis, {"--owner", "newcomer", "--type", type});
    pty.type("y\r");
    pty.expect("'deploy' is held by newcomer by now");
    CHECK(pty.exit_code() == 1);
    CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", "newcomer"}) == 0);
  }
}

TEST_CASE("unlock of several keys leaves a key alone that got another holder after the first removal") {
  RedisServer redis;
  for (const std::string type : {"lock", "read"}) {
    CAPTURE(type);
    const auto hold_second = [&](const std::string& owner) {
      REQUIRE(status_of(redis, {"lock", "acquire", "-n", "second", "--lease", "1m", "--type", type, "--owner",
                                owner}) == 0);
    };
    const auto release_second = [&](const std::string& owner) {
      REQUIRE(status_of(redis, {"lock", "release", "second", "--owner", owner}) == 0);
    };
    hold_deploy(redis, {"--owner", "seen"});
    hold_second("seen");
    Pty pty{{rlock_binary(), "unlock", "deploy", "second"}, redis.environment()};
    pty.expect("Remove the lock 'deploy'? [y/N] ");  // by now rlock has looked at both keys
    release_second("seen");
    hold_second("newcomer");
    pty.type("y\r");
    pty.expect("'second' is held by newcomer by now");
    CHECK(pty.exit_code() == 1);
    CHECK_FALSE(redis.has("deploy"));
    release_second("newcomer");
  }
}

TEST_CASE("unlock is guarded by --if-owner") {
  RedisServer redis;
  hold_deploy(redis, {"--owner", "ci-42"});
  CHECK(status_of(redis, {"unlock", "--yes", "--if-owner", "ci-41", "deploy"}) == 1);
  CHECK(redis.has("deploy"));
  CHECK(status_of(redis, {"unlock", "--yes", "--if-owner", "ci-42", "deploy"}) == 0);
  CHECK(status_of(redis, {"unlock", "--yes", "deploy"}) == 1);
}

TEST_CASE("a removal in the first second of a run, before it listens, is noticed long before its renewal") {
  RedisServer redis;
  for (const char* renews : {"--verbose", "--no-renew"}) {
    CAPTURE(renews);
    Rlock run =
        redis.rlock("run", "-k", "k", "--lease", "1h", renews, "--", "sh", "-c", "echo ready; exec sleep 60");
    REQUIRE(eventually([&] { return !run.out().empty(); }, 10s));
    CHECK(redis.cli({"DEL", "k"}) == "1");  // no message tells the run
    CHECK(run.exit_code() == 125);
  }
}

TEST_CASE("unlock with --if-owner ends one of several readers, and the other keeps its hold") {
  RedisServer redis;
  Rlock one = redis.rlock("run", "-s", "-k", "k", "--lease", "1h", "--", "sh", "-c",
                          "echo $RLOCK_OWNER; exec sleep 60");
  Rlock two = redis.rlock("run", "-s", "-k", "k", "--", "sh", "-c", "echo $RLOCK_OWNER; exec sleep 60");
  REQUIRE(eventually([&] { return !one.out().empty() && !two.out().empty(); }, 10s));
  Rlock unlock = redis.rlock("unlock", "--json", "--yes", "--if-owner", line(one.out()), "k");
  CHECK(unlock.exit_code() == 0);
  CHECK(contains(unlock.out(), "\"owners\":[\"" + line(one.out()) + "\"]"));
  CHECK(one.exit_code() == 125);
  CHECK(two.running());
  CHECK(redis.cli({"HGET", "k", line(two.out())}) == "1");
  two.signal(SIGTERM);
  CHECK(two.exit_code() == 143);
  CHECK_FALSE(contains(two.err(), "lost"));
}

TEST_CASE("a permit that is stuck is given back by its id, which inspect shows, and by its owner") {
  RedisServer redis;
  CHECK(status_of(redis, {"permit", "init", "seats", "3"}) == 0);
  const auto take = [&] { return line(said(redis, {"permit", "acquire", "-n", "seats", "--lease", "1h"})); };
  const std::string id = take(), other = take();
  CHECK(contains(said(redis, {"inspect", "-v", "seats"}), ", permit " + id));
  CHECK(contains(said(redis, {"inspect", "--json", "seats"}), "\"permit_id\":\"" + id + "\""));
  Rlock unnamed = redis.rlock("unlock", "--yes", "seats");
  CHECK(unnamed.exit_code() == 65);
  CHECK_MESSAGE(contains(unnamed.err(), "by --if-owner ID; rlock inspect -v seats shows the ids"),
                unnamed.err());

  CHECK(status_of(redis, {"unlock", "--yes", "seats", "--if-owner", id}) == 0);
  CHECK(redis.cli({"GET", "seats"}) == "2");
  CHECK(redis.cli({"ZCARD", "{seats}:timeout"}) == "1");
  CHECK(redis.cli({"HLEN", "rlock:meta:{seats}"}) == "1");
  CHECK(contains(said(redis, {"history", "seats"}), "removed"));
  CHECK(status_of(redis, {"unlock", "--yes", "seats", "--if-owner", id}) == 1);
  CHECK(redis.cli({"GET", "seats"}) == "2");

  const std::string json = said(redis, {"inspect", "--json", "seats"});
  const std::string begin = "\"owner\":\"";
  const std::size_t at = json.find(begin) + begin.size();
  const std::string owner = json.substr(at, json.find('"', at) - at);
  Rlock asked = redis.rlock("stop", "seats", "--if-owner", owner);
  CHECK(asked.exit_code() == 65);
  CHECK_MESSAGE(contains(asked.err(), "rlock unlock seats --if-owner " + owner + "\n"), asked.err());
  CHECK(status_of(redis, {"unlock", "--yes", "seats", "--if-owner", owner}) == 0);
  CHECK(redis.cli({"GET", "seats"}) == "3");
  CHECK(status_of(redis, {"unlock", "--yes", "seats", "--if-owner", owner}) == 1);
  CHECK_FALSE(redis.has("rlock:meta:{seats}"));
}

TEST_CASE("rlock run learns of the forced release of its permit, and the other permits stay") {
  RedisServer redis;
  const auto hold_one = [&] {
    return redis.rlock("run", "--permits", "2", "--lease", "3s", "-k", "seats", "--", "sh", "-c",
                       "echo $RLOCK_OWNER; exec sleep 60");
  };
  Rlock first = hold_one();
  Rlock second = hold_one();
  REQUIRE(eventually([&] { return !first.out().empty() && !second.out().empty(); }, 10s));
  CHECK(status_of(redis, {"unlock", "--yes", "seats", "--if-owner", line(first.out())}) == 0);
  CHECK(first.exit_code(40s) == 125);  // a hold younger than a second learns of the removal at its next
                                       // renewal
  CHECK(redis.cli({"ZCARD", "{seats}:timeout"}) == "1");
  second.signal(SIGTERM);
  CHECK(second.exit_code() == 143);
  CHECK(redis.cli({"GET", "seats"}) == "2");
}

TEST_CASE("a signal ends an unlock whose stderr is a pipe that nobody reads, and removes nothing") {
  RedisServer redis;
  hold_deploy(redis);
  const FullPipe nobody;
  Process::Options options = redis.environment();
  options.descriptors[STDERR_FILENO] = nobody.writing();
  Monitor monitor{redis};
  Rlock unlock{{"unlock", "--yes", "deploy"}, options};
  expect_to_write(redis, monitor, unlock.pid());
  unlock.signal(SIGTERM);
  CHECK(unlock.exit_code() == 128 + SIGTERM);
  CHECK(redis.has("deploy"));
}

TEST_CASE("a signal ends a question on a terminal that was stopped by ^S") {
  RedisServer redis;
  hold_deploy(redis);
  Monitor monitor{redis};
  Pty terminal{{"sh", "-c", "read enter; exec \"$0\" unlock deploy 2>/dev/null", rlock_binary()},
               redis.environment()};
  terminal.type("\x13\n");
  expect_to_write(redis, monitor, terminal.pid());
  ::kill(terminal.pid(), SIGTERM);
  CHECK(terminal.exit_code() == 128 + SIGTERM);
  CHECK(redis.has("deploy"));
}
