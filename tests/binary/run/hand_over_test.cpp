// Many runs wait for one key. Neither the cost of a hand-over nor its fairness depends on their number.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <list>

#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

/// Runs that wait for "k". Its holder keeps the lock until let_go().
class WaitingRuns {
 public:
  explicit WaitingRuns(Words type = {"--type", "lock"}) : type_(std::move(type)), gate_(folder_ / "gate") {
    holder_.emplace(start({"sh", "-c", "until [ -e \"$0\" ]; do sleep 0.01; done", gate_}));
    REQUIRE(eventually([&] { return redis.has("k"); }, kLongDeadline));
  }

  /// Adds a run that writes its name into the log. When join() returns, that run waits in the line.
  Rlock& join(const std::string& name, const Words& type = {}) {
    const auto before = length();
    runs_.push_back(start({"sh", "-c", "echo \"$1\" >> \"$0\"", folder_ / "log", name}, type));
    REQUIRE(eventually([&] { return length() == before + 1 && listens(); }, kLongDeadline));
    return runs_.back();
  }

  void let_go() { write_file(gate_, ""); }

  /// The names in the order in which they had the lock, as soon as there are `count` of them.
  Words served(std::size_t count) {
    const auto names = [&] { return rlock::split(read_file(folder_ / "log"), '\n'); };
    REQUIRE(eventually([&] { return names().size() == count + 1; }, kLongDeadline));
    Words all = names();
    all.pop_back();
    return all;
  }

  long long length() { return std::stoll(redis.cli({"ZCARD", "redisson_unlock_latch:{k}:line"})); }

  RedisServer redis;

 private:
  Rlock start(Words command, const Words& type = {}) {
    Words words{"run", "-q", "-k", "k"};
    const Words& kind = type.empty() ? type_ : type;
    words.insert(words.end(), kind.begin(), kind.end());
    words.push_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return Rlock{words, redis.environment()};
  }

  /// True: every waiter listens on the channel on which it is told.
  bool listens() {
    const std::string channels = redis.cli({"PUBSUB", "CHANNELS", "redisson_*:{k}:*"}) + "\n";
    const Words waiters =
        rlock::split(redis.cli({"ZRANGE", "redisson_unlock_latch:{k}:line", "0", "-1"}), '\n');
    return std::ranges::all_of(
        waiters, [&](const std::string& owner) { return contains(channels, ":" + owner + "\n"); });
  }

  TempDir folder_;
  Words type_;
  std::string gate_;
  std::optional<Rlock> holder_;
  std::list<Rlock> runs_;
};

/// The largest number of later arrivals that passed one run.
int most_passed(const Words& served) {
  int most = 0;
  for (std::size_t i = 0; i < served.size(); ++i) {
    int passed = 0;
    for (std::size_t j = 0; j < i; ++j) passed += std::stoi(served[j]) > std::stoi(served[i]) ? 1 : 0;
    most = std::max(most, passed);
  }
  return most;
}

Words numbers(int count) {
  Words all;
  for (int i = 0; i < count; ++i) all.push_back(std::to_string(i));
  return all;
}

}  // namespace

TEST_CASE("no waiter is passed more than ten times, and a hand-over costs six requests at most") {
  for (const std::string type : {"lock", "fenced", "write", "permit"}) {
    CAPTURE(type);
    constexpr int kJoined = 12;
    const bool permit = type == "permit";  // a permit's pool stays
    WaitingRuns crowd{permit ? Words{"--permits", "1"} : Words{"--type", type}};
    for (const std::string& name : numbers(kJoined)) crowd.join(name);
    Monitor monitor{crowd.redis};
    crowd.let_go();
    CHECK(most_passed(crowd.served(kJoined)) <= 10);
    REQUIRE(eventually([&] { return !crowd.redis.has(permit ? "{k}:timeout" : "k"); }, kLongDeadline));
    std::size_t requests = 0;
    for (const std::string& command : monitor.commands())
      // UNSUBSCRIBE comes in the same write as a release: it is no request of its own.
      if (!contains(command, "SELECT") && !contains(command, "UNSUBSCRIBE")) ++requests;
    CHECK(requests <= 6 * kJoined + 6);
  }
}

TEST_CASE("a chosen run that was killed or is frozen delays no other run for long") {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    CAPTURE(signal);
    WaitingRuns crowd;
    Rlock& chosen = crowd.join("chosen");
    crowd.join("next");
    chosen.signal(signal);
    if (signal == SIGKILL) REQUIRE(eventually([&] { return !chosen.running(); }, kLongDeadline));
    crowd.let_go();
    CHECK(crowd.served(1) == Words{"next"});
    if (signal == SIGKILL) continue;
    chosen.signal(SIGCONT);
    CHECK(crowd.served(2) == Words{"next", "chosen"});
  }
}

TEST_CASE(
    "ten runs without their line, or without all data on the server, follow each other without a pause") {
  for (const Words& lost : {Words{"DEL", "redisson_unlock_latch:{k}:line"}, Words{"FLUSHALL"}}) {
    CAPTURE(lost.front());
    WaitingRuns crowd;
    for (const std::string& name : numbers(10)) crowd.join(name);
    crowd.redis.cli(lost);
    crowd.let_go();
    const auto begun = std::chrono::steady_clock::now();
    CHECK(crowd.served(10).size() == 10);
    CHECK(std::chrono::steady_clock::now() - begun < 15s);  // of ten waiters the last five ask every 26 s
  }
}

TEST_CASE("a chosen run that is interrupted passes on that it was chosen") {
  WaitingRuns crowd;
  Rlock& chosen = crowd.join("chosen");
  crowd.join("next");
  crowd.let_go();
  chosen.signal(SIGTERM);
  const Words served = crowd.served(1);
  CHECK((served.front() == "next" || served.front() == "chosen"));
  CHECK(eventually([&] { return crowd.length() == 0; }, kLongDeadline));
}

TEST_CASE("a writer that waits is not starved by readers that come later") {
  WaitingRuns crowd{{"--type", "read"}};
  crowd.join("writer", {"--type", "write"});
  crowd.join("reader", {"--type", "read"});
  crowd.join("another", {"--type", "read"});
  crowd.let_go();
  const Words served = crowd.served(3);
  CHECK(served.front() == "writer");
}

TEST_CASE("inspect lists the waiters in their order, with their facts") {
  WaitingRuns crowd;
  crowd.join("first");
  crowd.join("second");
  Rlock text = crowd.redis.rlock("inspect", "k");
  REQUIRE(text.exit_code() == 0);
  CHECK(text.out().find("k  ") == 0);
  CHECK_MESSAGE(contains(text.out(), "2 wait"), text.out());
  CHECK(contains(text.out(), "waits 1: "));
  CHECK(contains(text.out(), "waits 2: "));
  CHECK(contains(text.out(), "(sh -c)"));
}
