// Forged data: variables that only look like rlock's, and records that any user with write access to the keys
// may write.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

Rlock rlock_with(const RedisServer& redis, const std::string& name, const std::string& value, Words words) {
  Process::Options options = redis.environment();
  options.env[name] = value;
  return Rlock{std::move(words), options};
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

/// A waiter for 'a' that claims to hold 'b' as `owner`, and listens like a living one. It came last, and in a
/// deadlock the last waiter gives up.
class Liar {
 public:
  Liar(RedisServer& redis, const std::string& owner) : listener_(redis.where()) {
    const std::string line = "redisson_unlock_latch:{a}:line";
    const std::string later = "99999999999999";
    redis.cli({"ZADD", line, "99999999999999999", "liar"});
    redis.cli({"HSET", line + ":waiters", "liar", later + " 0 1 0 0"});
    redis.cli(
        {"HSET", line + ":facts", "liar",
         R"({"since":1,"renewed":1,"lease_ms":30000,"host":"h\u001b[31m","pid":1,"user":"u","command":"c",)"
         R"("renews":true,"holds":[["b",")" +
             owner + R"("]]})"});
    listener_.ask({"SUBSCRIBE", "redisson_lock__channel:{a}:liar"});
  }

 private:
  RespClient listener_;
};

}  // namespace

TEST_CASE("forged variables let no process into a hold") {
  RedisServer redis;
  const std::string owner = acquired(redis, "k");
  const std::vector<std::pair<std::string, std::string>> forged{
      {"RLOCK_OWNER", owner},
      {"RLOCK_HELD", "1"},
      {"RLOCK_PID", "1"},
      {"RLOCK_LOCK", "k"},
      {"RLOCK_LOCKS", "k"},
      {"RLOCK_FENCE", "99999999999999999999"},
      {"RLOCK_STACK", "lock somebody-else k"},
      {"RLOCK_STACK", "lock " + owner + " other"},
      {"RLOCK_STACK", repeated("lock o k\n", 10'000)},
      {"RLOCK_STACK", "lock " + std::string(100'000, 'o') + " k"},
      {"RLOCK_STACK", "\xff\xfe \x80 %zz\nlock \x1b[31m k extra\nlock o %00\n   \nlock  k"}};
  for (const auto& [name, value] : forged) {
    CAPTURE(name);
    CAPTURE(value.substr(0, 40));
    Rlock run = rlock_with(redis, name, value, {"run", "-n", "-k", "k", "--", "echo", "inside"});
    CHECK(run.exit_code(kDeadline) == 75);
    CHECK(run.out().empty());
  }
  Rlock other = rlock_with(redis, "RLOCK_STACK", "lock " + owner + " k",
                           {"run", "-n", "-k", "k2", "--", "echo", "inside"});
  CHECK(other.exit_code(kDeadline) == 0);
  CHECK(redis.cli({"HGET", "k", owner}) == "1");
}

TEST_CASE("a process that knows the owner id of a hold may enter it, as rlock-safety(7) says, and it stays") {
  RedisServer redis;
  const std::string owner = acquired(redis, "k");
  Rlock run = rlock_with(redis, "RLOCK_STACK", "lock " + owner + " k",
                         {"run", "-n", "-k", "k", "--", "echo", "inside"});
  CHECK(run.exit_code(kDeadline) == 0);
  CHECK(run.out() == "inside\n");
  CHECK(redis.cli({"HGET", "k", owner}) == "1");
}

TEST_CASE("a variable with thousands of holds that are not there makes no wait longer") {
  RedisServer redis;
  acquired(redis, "k");
  std::string stack;
  for (int i = 0; i < 5000; ++i) stack += "lock o" + std::to_string(i) + " k\n";
  Monitor monitor{redis};
  CHECK(rlock_with(redis, "RLOCK_STACK", stack, {"run", "-q", "-n", "-k", "k", "--", "true"})
            .exit_code(kDeadline) == 75);
  CHECK(monitor.commands().size() < 200);
}

TEST_CASE("a waiter with forged holds ends the wait of a nested run, and nothing else") {
  for (const bool gives_up : {true, false}) {
    CAPTURE(gives_up);
    RedisServer redis;
    const std::string owner = acquired(redis, "b");
    Rlock outer =
        redis.rlock("run", "-q", "-k", "a", "--", rlock_binary(), "run", "-q", "-w", "20s", "--on-deadlock",
                    gives_up ? "give-up" : "wait", "-k", "b", "--", "echo", "inside");
    REQUIRE(eventually([&] { return redis.has("a"); }, kDeadline));
    const Liar liar{redis, owner};
    REQUIRE(eventually([&] { return contains(outer.err(), "rlock: deadlock: 'b' is held by "); }, kDeadline));
    CHECK_FALSE(contains(outer.err(), "\x1b"));
    CHECK(redis.cli({"HGET", "b", owner}) == "1");
    if (!gives_up) CHECK(status_of(redis, {"lock", "release", "b", "--owner", owner}) == 0);
    CHECK(outer.exit_code(kDeadline) == (gives_up ? 75 : 0));
    CHECK(outer.out() == (gives_up ? "" : "inside\n"));
    CHECK_FALSE(redis.has("a"));
  }
}
