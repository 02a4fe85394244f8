// --newest: of several waiters the newest one gets the lock, and the older ones give up.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <list>
#include <string>

#include "base/text.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/masters.h"
#include "support/redis_server.h"
#include "support/state_home.h"
#include "support/tcp_proxy.h"

using namespace rlock::test;

namespace {

using namespace std::chrono_literals;

/// Deploys of one key. Each writes its number to a file.
class Deploys {
 public:
  explicit Deploys(std::string type = "lock") : type_(std::move(type)) {}

  Words words(const std::string& number, const Words& more = {}) const {
    Words all{"run", "--type", type_, "-k", "deploy", "--reason", "commit-" + number};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--", "sh", "-c", "echo " + number + " >> " + log_});
    return all;
  }

  /// Starts one more deploy, and returns when it waits.
  Rlock& comes(const std::string& number, Words more = {}) {
    more.emplace_back("--newest");
    Rlock& run = runs_.emplace_back(words(number, more), redis.environment());
    REQUIRE(eventually([&] { return waits(number); }, 20s));
    return run;
  }

  /// True: the deploy has a place in the line, and every waiter of the line listens.
  bool waits(const std::string& number) {
    const std::string facts = redis.cli({"HVALS", "redisson_unlock_latch:{deploy}:line:facts"});
    return contains(facts, "\"commit-" + number + "\"") && all_listen();
  }
  Words line() {
    Words owners =
        rlock::split(redis.cli({"ZRANGE", "redisson_unlock_latch:{deploy}:line", "0", "-1"}), '\n');
    std::erase(owners, "");
    return owners;
  }
  bool all_listen() {
    const std::string channels = redis.cli({"PUBSUB", "CHANNELS", "redisson_*{deploy}:?*"});
    return std::ranges::all_of(
        line(), [&](const std::string& owner) { return contains(channels, "{deploy}:" + owner); });
  }

  Rlock holder() {
    Rlock holding{{"run", "-q", "--type", type_, "-k", "deploy", "--", "sleep", "60"}, redis.environment()};
    REQUIRE(eventually([&] { return redis.has("rlock:meta:{deploy}"); }, 10s));
    return holding;
  }

  /// The numbers of the deploys that have run, in their order.
  std::string log() const { return read_file(log_); }

  RedisServer redis;

 private:
  std::string type_;
  TempDir folder_;
  std::string log_ = folder_ / "log";
  std::list<Rlock> runs_;
};

}  // namespace

TEST_CASE(
    "20 deploys come while one runs: the newest follows, and 19 exit with 75 and name the deploy that superseded them") {
  for (const std::string type : {"lock", "fenced", "write"}) {
    CAPTURE(type);
    Deploys deploys{type};
    Rlock holder = deploys.holder();
    Rlock patient{deploys.words("patient", {"-q"}), deploys.redis.environment()};
    REQUIRE(eventually([&] { return deploys.waits("patient"); }, 20s));
    Rlock* older = nullptr;
    for (int i = 1; i <= 20; ++i) {
      Rlock& newer = deploys.comes(std::to_string(i));
      if (older != nullptr) {
        CHECK(older->exit_code(20s) == 75);
        CHECK_MESSAGE(contains(older->err(), "'deploy': superseded by "), older->err());
        CHECK_MESSAGE(contains(older->err(), "(sh -c) \"commit-" + std::to_string(i) + "\""), older->err());
      }
      older = &newer;
    }
    holder.signal(SIGTERM);
    CHECK(holder.exit_code() == 143);
    CHECK(patient.exit_code(20s) == 0);
    CHECK(older->exit_code(20s) == 0);
    // The lock is not fair: if the first waiter has not taken it after 300 ms, the second one may.
    const std::string log = deploys.log();
    CHECK_MESSAGE((log == "patient\n20\n" || log == "20\npatient\n"), log);
  }
}

TEST_CASE("the newest deploy takes over the place of the one that it supersedes") {
  Deploys deploys;
  Rlock holder = deploys.holder();
  Rlock& first = deploys.comes("1");
  Rlock patient{deploys.words("patient", {"-q"}), deploys.redis.environment()};
  REQUIRE(eventually([&] { return deploys.waits("patient"); }, 20s));
  Rlock& second = deploys.comes("2");
  CHECK(first.exit_code(20s) == 75);
  REQUIRE(eventually([&] { return deploys.line().size() == 2 && deploys.all_listen(); }, 20s));
  holder.signal(SIGTERM);
  CHECK(second.exit_code(20s) == 0);
  CHECK(patient.exit_code(20s) == 0);
  CHECK(deploys.log() == "2\npatient\n");
}

TEST_CASE(
    "the newest deploy is killed while it waits: the superseded ones do not run, and the next one does") {
  Deploys deploys;
  Rlock holder = deploys.holder();
  Rlock& first = deploys.comes("1");
  Rlock& second = deploys.comes("2");
  CHECK(first.exit_code(20s) == 75);
  second.signal(SIGKILL);
  CHECK(second.exit_code() == 137);
  holder.signal(SIGTERM);
  CHECK(holder.exit_code() == 143);
  REQUIRE(eventually([&] { return !deploys.redis.has("deploy"); }, 10s));
  CHECK(status_of(deploys.redis, deploys.words("3", {"--newest"})) == 0);
  CHECK(deploys.log() == "3\n");
}

TEST_CASE("a deploy that was frozen when a newer one came does not run after it") {
  Deploys deploys;
  Rlock holder = deploys.holder();
  Rlock& first = deploys.comes("1");
  first.signal(SIGSTOP);
  Rlock second{deploys.words("2", {"--newest"}), deploys.redis.environment()};
  REQUIRE(eventually([&] { return deploys.waits("2"); }, 20s));
  holder.signal(SIGTERM);
  CHECK(second.exit_code(20s) == 0);
  CHECK(deploys.log() == "2\n");
  REQUIRE(eventually([&] { return !deploys.redis.has("deploy"); }, 10s));
  first.signal(SIGCONT);
  CHECK(first.exit_code(20s) == 75);
  CHECK_MESSAGE(contains(first.err(), "superseded by "), first.err());
  CHECK(deploys.log() == "2\n");
}

TEST_CASE("the status record, the events and the document of lock acquire report a superseded deploy") {
  Deploys deploys;
  TempDir folder;
  Rlock holder = deploys.holder();
  Rlock& run =
      deploys.comes("1", {"--status-file", folder / "status", "--events", folder / "events", "-E", "9"});
  Rlock script{{"lock", "acquire", "deploy", "--lease", "1m", "--newest", "--reason", "commit-2", "--json"},
               deploys.redis.environment()};
  CHECK(run.exit_code(20s) == 9);
  const std::string status = read_file(folder / "status"), events = read_file(folder / "events");
  CHECK_MESSAGE(contains(status, R"("outcome":"superseded","exit":9)"), status);
  CHECK_MESSAGE(contains(status, R"("error":"'deploy': superseded by )"), status);
  CHECK_MESSAGE(contains(events, R"("event":"gave-up")"), events);
  CHECK_MESSAGE(contains(events, R"("outcome":"superseded","exit":9,"why":"'deploy': superseded by )"),
                events);
  REQUIRE(eventually([&] { return deploys.waits("2"); }, 20s));
  Rlock& last = deploys.comes("3");
  CHECK(script.exit_code(20s) == 75);
  CHECK_MESSAGE(script.out().starts_with(
                    R"({"v":1,"outcome":"superseded","keys":["deploy"],"error":"'deploy': superseded by )"),
                script.out());
  holder.signal(SIGTERM);
  CHECK(last.exit_code(20s) == 0);
}

TEST_CASE("with several keys a newer deploy of one of them is enough") {
  RedisServer redis;
  Rlock holder = redis.rlock("run", "-q", "-k", "a", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{a}"); }, 10s));
  const auto waiting = [&](const std::string& reason) {
    return contains(redis.cli({"HVALS", "redisson_unlock_latch:{a}:line:facts"}), "\"" + reason + "\"");
  };
  Rlock both = redis.rlock("run", "-k", "a", "-k", "b", "--newest", "--reason", "both", "--", "true");
  REQUIRE(eventually([&] { return waiting("both"); }, 10s));
  Rlock one = redis.rlock("run", "-k", "b", "--newest", "--reason", "only b", "--", "true");
  CHECK(one.exit_code() == 0);
  holder.signal(SIGTERM);
  CHECK(both.exit_code(20s) == 75);
  CHECK_MESSAGE(contains(both.err(), "'b': superseded by "), both.err());
  CHECK_FALSE(redis.has("a"));
}

TEST_CASE("a deploy inside a hold of its key joins the hold, and supersedes none") {
  Deploys deploys;
  Rlock outer{
      {"run", "-q", "-k", "deploy", "--", rlock_binary(), "run", "-k", "deploy", "--newest", "--", "true"},
      deploys.redis.environment()};
  CHECK(outer.exit_code() == 0);
  CHECK_FALSE(deploys.redis.has("redisson_unlock_latch:{deploy}:line:waiters"));
}

TEST_CASE("if older and newer deploys cannot be told apart, --newest is refused and nothing is sent") {
  RedisServer redis;
  const auto refused = [&](Words options, const std::string& why) {
    options.insert(options.begin(), {"run", "-k", "deploy", "--newest"});
    options.insert(options.end(), {"--", "true"});
    Rlock run{options, redis.environment()};
    CHECK(run.exit_code() == 64);
    CHECK_MESSAGE(contains(run.err(), "--newest with " + why), run.err());
  };
  refused({"--type", "fair"}, "--type fair: Redisson's clients wait in its queue");
  refused({"-s"}, "--type read: readers share the key");
  refused({"--type", "permit", "--permits", "3"}, "--type permit: several hold");
  refused({"--type", "spin"}, "--type spin: its waiters have no queue");
  refused({"--type", "plain"}, "--type plain: its waiters have no queue");
  refused({"-n"}, "-n: ");
  refused({"--wait", "0"}, "--wait 0: ");
  refused({"--queue-limit", "3"}, "--queue-limit: ");
  CHECK(status_of(redis, {"lock", "acquire", "deploy", "--lease", "1m", "--newest", "--fair"}) == 64);
  Masters three{3};
  Rlock several = three.rlock("run", "-k", "deploy", "--newest", "--", "true");
  CHECK(several.exit_code() == 64);
  CHECK_MESSAGE(contains(several.err(), "--newest with several servers"), several.err());
  CHECK(redis.cli({"DBSIZE"}) == "0");
}

TEST_CASE("a key that is no lock is refused, and a missing server is 69") {
  RedisServer redis;
  redis.cli({"RPUSH", "deploy", "x"});
  CHECK(status_of(redis, {"run", "-k", "deploy", "--newest", "--", "true"}) == 65);
  CHECK(redis.cli({"DBSIZE"}) == "1");
  Rlock gone{{"run", "-u", "redis://127.0.0.1:1", "-k", "deploy", "--newest", "--", "true"},
             Rlock::clean_environment()};
  CHECK(gone.exit_code() == 69);
}

TEST_CASE("a CI step that is repeated by the holder supersedes no deploy that waits") {
  Deploys deploys;
  const Words step{"lock", "acquire", "deploy", "--newest", "--lease", "1m", "--owner", "ci-1"};
  REQUIRE(status_of(deploys.redis, step) == 0);
  Rlock& next = deploys.comes("1");
  CHECK(status_of(deploys.redis, step) == 0);
  CHECK(deploys.waits("1"));
  CHECK(status_of(deploys.redis, {"lock", "release", "deploy", "--owner", "ci-1"}) == 0);
  CHECK(next.exit_code(10s) == 0);
  CHECK(deploys.log() == "1\n");
}

TEST_CASE("a deploy whose arrival is answered too late arrives again, and is superseded like any other") {
  Deploys deploys;
  Rlock holder = deploys.holder();
  TcpProxy proxy{deploys.redis.where()};
  deploys.redis.freeze();
  Rlock first{deploys.words("1", {"--newest", "--lease", "1s", "-u", proxy.url()}),
              deploys.redis.environment()};
  REQUIRE(eventually([&] { return proxy.bytes(TcpProxy::Way::to_server) > 0; }, 10s));
  std::this_thread::sleep_for(1s);  // the length of the fault: a hold that was asked for before it has ended
  deploys.redis.thaw();
  REQUIRE(eventually([&] { return deploys.waits("1"); }, 20s));
  Rlock& second = deploys.comes("2");
  CHECK(first.exit_code(20s) == 75);
  holder.signal(SIGTERM);
  CHECK(second.exit_code(20s) == 0);
  CHECK(deploys.log() == "2\n");
}

TEST_CASE("a copy of an arrival that comes an hour late is still the same arrival") {
  Deploys deploys;
  Rlock holding = deploys.holder();
  deploys.comes("1");
  const std::string request =
      deploys.redis.cli({"KEYS", "redisson_unlock_latch:{deploy}:" + std::string(32, '?')});
  REQUIRE(request.size() == std::string{"redisson_unlock_latch:{deploy}:"}.size() + 32);
  CHECK(deploys.redis.pttl(request) > 23 * 3'600'000);
}
