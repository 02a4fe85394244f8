#include "sync/records/history.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>

#include "support/direct.h"
#include "support/scene.h"
#include "support/usual_names.h"
#include "sync/calls/keys.h"
#include "sync/kinds/lock.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const HoldEntry kHoldEntry{.key = "deploy", .member = "me:1"};

PastHold past(std::int64_t since, std::int64_t ended) {
  PastHold past{.type = "lock", .facts = {.host = "ci-7", .user = "alice", .command = "make", .pid = 4121}};
  past.facts.since = ServerTime{Milliseconds{since}};
  past.ended = ServerTime{Milliseconds{ended}};
  past.waited = Milliseconds{3000};
  past.end = {.outcome = HoldOutcome::ran, .exit = 3};
  return past;
}

struct Remembered : Scene {
  Reply end(const PastHold& past, const Owner& owner = Owner{"me:1"}, WriteEnd when = WriteEnd::always) {
    return redis.run(write_end(kName, owner, {.key = "deploy", .member = owner.str()}, past, when));
  }
  History read(std::int64_t most = kLongestHistory) {
    return read_history(redis.run(ask_history(kName, most)));
  }
};

}  // namespace

TEST_CASE("the ends of holds are read back, the newest first") {
  Remembered scene;
  scene.end(past(1000, 5000));
  PastHold second = past(6000, 7000);
  second.end = {.outcome = HoldOutcome::stopped, .signal = 15, .why = "alice@ops: stuck"};
  scene.end(second, Owner{"you:1"});

  const History history = scene.read();
  CHECK(history.now.time_since_epoch().count() > 1600000000000);
  REQUIRE(history.holds.size() == 2);
  CHECK(history.holds[0].owner == Owner{"you:1"});
  CHECK(history.holds[0].end.outcome == HoldOutcome::stopped);
  CHECK(history.holds[0].end.signal == 15);
  CHECK(history.holds[0].end.why == "alice@ops: stuck");
  const PastHold& first = history.holds[1];
  CHECK(first.owner == Owner{"me:1"});
  CHECK(first.type == "lock");
  CHECK(first.facts.host == "ci-7");
  CHECK(first.facts.user == "alice");
  CHECK(first.facts.pid == 4121);
  CHECK(first.facts.since == ServerTime{Milliseconds{1000}});
  CHECK(first.held().count() == 4000);
  CHECK(first.waited == Milliseconds{3000});
  CHECK(first.end.exit == 3);
  CHECK(scene.read(1).holds.size() == 1);
}

TEST_CASE("a history ends after a week, or is not written") {
  Remembered scene;
  scene.redis.run(command({"ACL", "SETUSER", "half", "on", "nopass", "~*", "&*", "+@all", "-pexpire"}));
  Direct half{scene.server};
  half.run(command({"AUTH", "half", "x"}));
  const Call write = write_end(kName, Owner{"me:1"}, kHoldEntry, past(1000, 5000), WriteEnd::always);
  CHECK(half.run(write).is_error());
  CHECK(scene.read().holds.empty());

  scene.redis.run(write);
  CHECK(scene.read().holds.size() == 1);
  const std::int64_t rest = scene.redis.run(command({"PTTL", history_key(kName)})).integer();
  CHECK(rest > 600'000'000);
  CHECK(rest <= 604'800'000);
}

TEST_CASE("the end of a hold counts once: copies, and a second record, add nothing") {
  Remembered scene;
  scene.end(past(1000, 5000));
  scene.end(past(1000, 5000));
  PastHold other = past(1001, 5003);  // the same hold, whose start was read from another clock
  other.end = {.outcome = HoldOutcome::removed};
  scene.end(other);
  REQUIRE(scene.read().holds.size() == 1);
  CHECK(scene.read().holds[0].end.outcome == HoldOutcome::ran);

  scene.end(past(5001, 6000));  // the next hold of the same owner
  CHECK(scene.read().holds.size() == 2);
  scene.end(past(1000, 5000));  // a late copy
  CHECK(scene.read().holds.size() == 2);
}

TEST_CASE("the twenty newest entries are kept for seven days, and no late copy comes back") {
  Remembered scene;
  for (int i = 0; i < 30; ++i) scene.end(past(1000 + i, 2000 + i), Owner{fmt::format("me:{}", i)});
  scene.end(past(1000, 2000), Owner{"me:0"});
  const auto holds = scene.read(100).holds;
  REQUIRE(holds.size() == 20);
  CHECK(holds.front().owner == Owner{"me:29"});
  CHECK(holds.back().owner == Owner{"me:10"});
  const long long ttl = scene.server.pttl(history_key(kName));
  CHECK(ttl > 604'000'000);
  CHECK(ttl <= 604'800'000);
}

TEST_CASE("an end by another client is recorded only if the holder was known and holds no more") {
  Remembered scene;
  scene.end(past(1000, 5000), Owner{"me:1"}, WriteEnd::if_it_ended);
  CHECK(scene.read().holds.empty());

  scene.redis.run(Lock{{.name = kName, .owner = Owner{"me:1"}, .lease = Milliseconds{30000}}}.ask());
  scene.redis.run(write_metadata(kName, Owner{"me:1"}, kHoldEntry, Milliseconds{30000}, past(0, 0).facts));
  scene.end(past(1000, 5000), Owner{"me:1"}, WriteEnd::if_it_ended);
  CHECK(scene.read().holds.empty());
  CHECK(scene.server.has(metadata_key(kName)));

  scene.server.del("deploy");
  scene.end(past(1000, 5000), Owner{"me:1"}, WriteEnd::if_it_ended);
  CHECK(scene.read().holds.size() == 1);
  CHECK_FALSE(scene.server.has(metadata_key(kName)));
}

TEST_CASE("a history that cannot be written keeps no facts") {
  Remembered scene;
  scene.server.cli({"SET", history_key(kName), "junk"});
  scene.server.cli({"HSET", metadata_key(kName), "me:1", "{}"});
  CHECK(scene.end(past(1000, 5000)).is_error());
  CHECK_FALSE(scene.server.has(metadata_key(kName)));
  CHECK(scene.read().holds.empty());
  CHECK(scene.server.cli({"GET", history_key(kName)}) == "junk");
}

TEST_CASE("long texts are cut, and foreign entries are left out") {
  Remembered scene;
  PastHold long_one = past(1000, 5000);
  long_one.facts.reason = "\xff" + std::string(100'000, '\x01');
  long_one.facts.command = std::string(100'000, 'x');
  scene.end(long_one);
  REQUIRE(scene.read().holds.size() == 1);
  CHECK(scene.read().holds[0].facts.command.size() <= 200);
  CHECK(std::stoi(scene.server.cli({"MEMORY", "USAGE", history_key(kName)})) < 8192);

  const std::string key = history_key(kName);
  for (const std::string& junk :
       {std::string{"no newline"}, std::string{"o\nno json"}, std::string{"o\n[]"}, std::string{"o\n{}"},
        std::string{"o\n{\"ended_at\":\"x\"}"}, "o\n" + std::string(1'000'000, '{'),
        std::string{"o\n{\"ended_at\":18446744073709551615,\"since\":-1}"}})
    scene.server.cli({"ZADD", key, "9000", junk});
  CHECK(scene.read().holds.size() == 1);
  scene.server.cli({"ZADD", key, "9001", R"(o
{"ended_at":1,"since":9007199254740992,"exit":4000,"signal":-1,"outcome":7,"waited_ms":{}})"});
  const auto odd = scene.read().holds;
  REQUIRE(odd.size() == 2);
  CHECK(odd[0].held().count() == 0);
  CHECK(odd[0].end.word() == "unknown");
  CHECK_FALSE(odd[0].end.exit);
  CHECK_FALSE(odd[0].end.signal);
}

TEST_CASE("each outcome has a word of its own, and a word that another version wrote keeps its text") {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(HoldOutcome::unknown); ++i) {
    const auto outcome = static_cast<HoldOutcome>(i);
    CHECK(outcome_in(text_of(outcome)) == outcome);
    CHECK(words.insert(text_of(outcome)).second);
  }
  const Reply entry{std::string{"me:1\n{\"ended_at\":1,\"outcome\":\"evicted\"}"}};
  const History history = read_history(Reply{std::vector<Reply>{Reply{std::int64_t{1}}, entry}});
  REQUIRE(history.holds.size() == 1);
  CHECK(history.holds[0].end.outcome == HoldOutcome::unknown);
  CHECK(history.holds[0].end.word() == "evicted");
}

TEST_CASE("each outer hold of several parts records its end when it is released, and no inner hold does") {
  const auto lock = [](const std::string& key, Hold hold) {
    return std::make_shared<const Lock>(Claim{.name = LockName{key}, .owner = Owner{"me:1"}}, hold);
  };
  const Call facts = command({"facts"}), erase = command({"erase"});
  const std::vector<Part> parts = with_history(
      {{lock("a", Hold::first), {facts}, {erase}},
       {.lock = lock("b", Hold::inner), .followers = {facts}, .release_followers = {}, .joins = true},
       {lock("c", Hold::first), {facts}, {erase}}},
      past(1000, 5000), WriteEnd::always);
  REQUIRE(parts.size() == 3);
  const auto records = [](const Part& part, const std::string& key) {
    if (part.release_followers.size() != 1) return false;
    const Call& last = part.release_followers.back();
    return std::ranges::find(last.keys.list(), history_key(LockName{key})) != last.keys.end();
  };
  CHECK(records(parts[0], "a"));
  CHECK(parts[1].release_followers.empty());
  CHECK(records(parts[2], "c"));
}
