#include "sync/watch/deadlock.h"

#include <doctest/doctest.h>

#include <map>

using namespace rlock;

namespace {

/// A waiter, the time since which it waits, and the holds of the runs around it.
Waiter waiter(const std::string& owner, int since, const std::vector<OuterHold>& holds) {
  Metadata meta;
  meta.holds = holds;
  return {.owner = Owner{owner}, .since = ServerTime{Milliseconds{since}}, .facts = meta};
}

OuterHold held(const std::string& key, const std::string& owner) { return {LockName{key}, Owner{owner}}; }

/// Locks, each with its holders and its waiters.
struct World {
  void lock(const std::string& key, const std::vector<std::string>& holders, std::vector<Waiter> waiters,
            const Kind& kind = kinds::lock) {
    Inspection seen;
    seen.name = LockName{key};
    seen.kind = &kind;
    for (const std::string& owner : holders) seen.holders.push_back({.owner = Owner{owner}});
    seen.waiters = std::move(waiters);
    locks[key] = std::move(seen);
  }

  /// The owners of the circle that `us` finds when it waits for `wanted` and holds `holds`.
  std::vector<std::string> circle(const std::string& wanted, const std::string& us,
                                  const std::vector<OuterHold>& holds) {
    DeadlockSearch search{LockName{wanted}, Owner{us}, holds};
    for (looks = 0; const LockName* key = search.next(); ++looks) search.read(locks[key->str()]);
    found = search.circle();
    std::vector<std::string> owners;
    for (const DeadlockMember& member : found) owners.push_back(member.owner.str());
    return owners;
  }

  std::map<std::string, Inspection> locks;
  std::vector<DeadlockMember> found;
  int looks = 0;
};

using Owners = std::vector<std::string>;

}  // namespace

TEST_CASE("two runs that wait for each other's key are a circle, and the younger is known") {
  World world;
  world.lock("a", {"h:1"}, {waiter("w:2", 20, {held("b", "h:2")})});
  world.lock("b", {"h:2"}, {waiter("w:1", 10, {held("a", "h:1")})});

  CHECK(world.circle("b", "w:1", {held("a", "h:1")}) == Owners{"w:1", "w:2"});
  CHECK(world.found[0].waits_for.str() == "b");
  CHECK(world.found[1].waits_for.str() == "a");
  CHECK(youngest(world.found).owner.str() == "w:2");
  CHECK(world.circle("a", "w:2", {held("b", "h:2")}) == Owners{"w:2", "w:1"});
  CHECK(youngest(world.found).owner.str() == "w:2");
}

TEST_CASE("a circle may lead over any number of runs") {
  World world;
  world.lock("a", {"h:1"}, {waiter("w:5", 5, {held("e", "h:5")})});
  world.lock("b", {"h:2"}, {waiter("w:1", 1, {held("a", "h:1")})});
  world.lock("c", {"h:3"}, {waiter("w:2", 2, {held("b", "h:2")})});
  world.lock("d", {"h:4"}, {waiter("w:3", 3, {held("c", "h:3")})});
  world.lock("e", {"h:5"}, {waiter("w:4", 4, {held("d", "h:4")})});
  CHECK(world.circle("b", "w:1", {held("a", "h:1")}) == Owners{"w:1", "w:2", "w:3", "w:4", "w:5"});
}

TEST_CASE("a waiter behind us that holds nothing we wait for is no circle") {
  World world;
  world.lock("a", {"h:1"}, {waiter("w:2", 20, {}), waiter("w:3", 30, {held("c", "h:3")})});
  world.lock("b", {"h:9"}, {waiter("w:1", 10, {held("a", "h:1")})});
  world.lock("c", {"h:3"}, {});
  CHECK(world.circle("b", "w:1", {held("a", "h:1")}).empty());
}

TEST_CASE("a hold that has ended since it was written down closes no circle") {
  World world;
  world.lock("a", {"h:1"}, {waiter("w:2", 20, {held("b", "gone:2")})});
  world.lock("b", {"h:2"}, {waiter("w:1", 10, {held("a", "h:1")})});
  CHECK(world.circle("b", "w:1", {held("a", "h:1")}).empty());  // b has other holders by now
  world.lock("a", {"other:1"}, {waiter("w:2", 20, {held("b", "h:2")})});
  CHECK(world.circle("b", "w:1", {held("a", "h:1")}).empty());  // we no longer hold a
  world.lock("a", {"h:1"}, {waiter("w:2", 20, {held("b", "h:2")})});
  world.lock("b", {"h:2"}, {});
  CHECK(world.circle("b", "w:1", {held("a", "h:1")}).empty());  // we no longer wait
}

TEST_CASE("a lock with several readers may be in a circle") {
  World world;
  world.lock("a", {"h:1", "other:1"}, {waiter("w:2", 20, {held("b", "h:2")})}, kinds::read_write);
  world.lock("b", {"h:2"}, {waiter("w:1", 10, {held("a", "h:1")})});
  CHECK_FALSE(world.circle("b", "w:1", {held("a", "h:1")}).empty());
}

TEST_CASE("with several permits no waiter waits for itself: another permit may come back") {
  World world;
  world.lock("a", {"h:1"}, {waiter("w:2", 20, {held("b", "h:2")})});
  world.lock("b", {"h:2", "h:3"}, {waiter("w:1", 10, {held("a", "h:1")})}, kinds::permit);
  CHECK(world.circle("b", "w:1", {held("a", "h:1")}).empty());
}

TEST_CASE("the search ends, whatever holds the waiters claim") {
  World world;
  world.lock("b", {"h:2"}, {waiter("w:1", 10, {held("k0", "h:1")})});
  for (int i = 0; i < 200; ++i) {
    const std::string next = "k" + std::to_string((i + 1) % 150);
    world.lock("k" + std::to_string(i), {"h:1"},
               {waiter("w:" + std::to_string(i + 5), 20, {held(next, "h:1")})});
  }
  CHECK(world.circle("b", "w:1", {held("k0", "h:1")}).empty());
  CHECK(world.looks == 65);
}

TEST_CASE("the search looks at no key more when it has found a circle, and at none if we hold nothing") {
  World world;
  world.lock("a", {"h:1"}, {waiter("w:2", 20, {held("b", "h:2")})});
  world.lock("b", {"h:2"}, {waiter("w:1", 10, {held("a", "h:1"), held("c", "h:1")})});
  world.lock("c", {"h:1"}, {});
  CHECK_FALSE(world.circle("b", "w:1", {held("a", "h:1"), held("c", "h:1")}).empty());
  CHECK(world.looks == 2);
  CHECK(world.circle("b", "w:1", {}).empty());
  CHECK(world.looks == 0);
}

TEST_CASE("a waiter that says nothing of itself, or not since when it waits, is in no circle") {
  World world;
  Waiter silent = waiter("w:2", 20, {});
  silent.facts.reset();
  Waiter timeless = waiter("w:3", 30, {held("b", "h:2")});
  timeless.since.reset();
  world.lock("a", {"h:1"}, {silent, timeless});
  world.lock("b", {"h:2"}, {waiter("w:1", 10, {held("a", "h:1")})});
  CHECK(world.circle("b", "w:1", {held("a", "h:1")}).empty());
}

TEST_CASE("each member of a circle listens on a channel of the kind for which it waits") {
  const auto channel = [](const Kind& kind) {
    World world;
    world.lock("a", {"h:1"}, {waiter("w:2", 20, {held("b", "h:2")})}, kind);
    world.lock("b", {"h:2"}, {waiter("w:1", 10, {held("a", "h:1")})});
    REQUIRE(world.circle("b", "w:1", {held("a", "h:1")}).size() == 2);
    return world.found[1].own.str();
  };
  CHECK(channel(kinds::lock) == "redisson_lock__channel:{a}:w:2");
  CHECK(channel(kinds::read_write) == "redisson_rwlock:{a}:w:2");
  CHECK(channel(kinds::plain) == "redisson_lock__channel:{a}:w:2");  // a plain lock announces nothing
}
