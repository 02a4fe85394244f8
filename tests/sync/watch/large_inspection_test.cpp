// What an inspection reads of a key that is too large to be read whole.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "support/redis_server.h"
#include "support/scene.h"
#include "sync/calls/keys.h"
#include "sync/kinds/permit_lock.h"
#include "sync/watch/inspect.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const LockName kLarge{"k"};
constexpr std::size_t kMost = 999;  // so many holders are read

struct LargeScene : Scene {
  Inspection inspect(const Facts& facts, const std::string& wanted = {}) {
    return read_inspection(kLarge, {.facts = facts}, redis.run(inspect_key(kLarge, facts, wanted)));
  }
};

/// How many holders there are, if each is named once.
std::size_t different(const Inspection& found) {
  std::set<std::pair<Owner, Holder::Mode>> all;
  for (const Holder& holder : found.holders) all.emplace(holder.owner, holder.mode);
  return all.size();
}

}  // namespace

TEST_CASE("of a lock with thousands of readers, those that are known come first, and each comes once") {
  LargeScene scene;
  Words words{"HSET", "k", "me:1", "1", "me:1:write", "1", "mode", "read"};
  for (int i = 0; i < 5000; ++i) words.insert(words.end(), {"o:" + std::to_string(i), "1"});
  scene.server.cli(words);
  const Inspection found = scene.inspect({{Owner{"me:1"}, Metadata{}}});
  CHECK(found.holders.size() == kMost - 1);  // the mode is read, too
  CHECK(different(found) == found.holders.size());
  CHECK(found.holders.at(0).owner == Owner{"me:1"});
  CHECK(found.holders.at(0).mode == Holder::Mode::read);
  CHECK(found.holders.at(1).owner == Owner{"me:1"});
  CHECK(found.holders.at(1).mode == Holder::Mode::write);
  CHECK(found.unnamed == 5002 - static_cast<std::int64_t>(found.holders.size()));
}

TEST_CASE("the rest of a reader's holds is read, as long as all readers have few") {
  LargeScene scene;
  scene.server.cli({"HSET", "k", "mode", "read", "a:1", "2", "b:1", "1500", "c:1", "1000", "d:1", "400"});
  scene.server.cli({"PEXPIRE", "k", "60000"});
  scene.server.cli({"SET", "{k}:a:1:rwlock_timeout:2", "1", "PX", "20000"});
  const Inspection found = scene.inspect({});
  REQUIRE(found.holders.size() == 4);
  const auto rest = [&](std::size_t i) { return found.holders[i].ttl.value().count(); };
  CHECK(rest(0) > 10000);
  CHECK(rest(0) <= 20000);
  CHECK(rest(1) == 0);     // its holds have ended
  CHECK(rest(2) > 50000);  // too many are left to look at: not known
  CHECK(rest(3) == 0);
}

TEST_CASE("of a thousand permits and more, one that is asked for is read, and each comes once") {
  LargeScene scene;
  const auto id_of = [](int i) { return "permit" + std::to_string(1'000'000'000 + i); };  // 16 bytes
  const std::string end = std::to_string((std::stoll(scene.server.cli({"TIME"})) + 60) * 1000);
  Words words{"ZADD", taken_key(kLarge)};
  for (int i = 0; i < 1500; ++i) words.insert(words.end(), {end, id_of(i)});
  scene.server.cli(words);
  scene.server.cli({"SET", "k", "0"});
  for (const auto& [asked, read] : {std::pair{0, kMost + 1}, std::pair{1499, kMost + 2}}) {
    CAPTURE(asked);
    const Inspection found = scene.inspect({}, to_hex(id_of(asked)));
    CHECK(found.holders.size() == read);
    CHECK(different(found) == read);
    CHECK(std::ranges::count(found.holders, id_of(asked), &Holder::permit) == 1);
    CHECK(found.unnamed == 1500 - static_cast<std::int64_t>(read));
  }
}

TEST_CASE("of a long line a thousand places are read, and the others are counted") {
  LargeScene scene;
  Words words{"ZADD", line_keys(kLarge).front()};
  for (int i = 0; i < 1500; ++i) words.insert(words.end(), {std::to_string(i), "o:" + std::to_string(i)});
  scene.server.cli(words);
  CHECK(scene.inspect({}).further_waiters == 500);
}

TEST_CASE("all permits of an owner are named") {
  LargeScene scene;
  const PermitLock lock{{.name = kLarge, .owner = Owner{"me:1"}}, PermitLock::Wanted{.count = 3, .total = 5}};
  REQUIRE(is_held(scene.ask(lock)));
  const Inspection found = scene.inspect({{Owner{"me:1"}, Metadata{}}});
  CHECK(std::ranges::count(found.holders, Owner{"me:1"}, &Holder::owner) == 3);
}
