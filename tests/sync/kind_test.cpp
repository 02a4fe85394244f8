// The table of kinds: what each type that can be taken leaves under its key is found, released and removed by
// whoever reads the table.

#include "sync/watch/kind_actions.h"

#include <doctest/doctest.h>

#include "cmd/run/lock_types.h"
#include "cmd/verbs/found_lock.h"
#include "support/redis_server.h"
#include "support/scene.h"
#include "sync/kinds/answers.h"
#include "sync/watch/inspect.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const LockName kName{"k"};
const Claim kClaim{.name = kName, .owner = Owner{"me:1"}};

std::unique_ptr<Lockable> take(Scene& scene, const LockType& type, const Claim& claim = kClaim) {
  auto lock =
      type.make({.claim = claim, .permits = type.kind == &kinds::permit ? std::optional{2} : std::nullopt});
  REQUIRE(is_held(scene.ask(*lock)));
  return lock;
}

/// With the owner among those of whom something is known: permits are recognized by them.
Inspection seen(Scene& scene) {
  const Facts facts{{kClaim.owner, Metadata{}}};
  return read_inspection(kName, {.facts = facts}, scene.redis.run(inspect_key(kName, facts)));
}

}  // namespace

TEST_CASE("what each type leaves under its key is found as its kind") {
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    Scene scene;
    const auto lock = take(scene, type);
    const Inspection found = seen(scene);
    REQUIRE(found.kind != nullptr);
    CHECK(&found.kind->plainest() == &type.kind->plainest());
    REQUIRE(found.holders.size() == 1);
    CHECK(found.holders.front().owner == kClaim.owner);
  }
}

TEST_CASE("whoever knows only key and owner renews and releases the hold of each type") {
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    Scene scene;
    const auto lock = take(scene, type);
    const auto found = found_lock(seen(scene), kClaim);
    REQUIRE(found);
    CHECK(scene.renew(*found));
    CHECK(scene.release(*found).how == Released::How::yes);
    CHECK(!scene.renew(*lock));
    CHECK(!found_lock(seen(scene), kClaim));
  }
}

TEST_CASE("a server without memory left renews, undoes and takes back the hold of each type") {
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    for (const bool undone : {false, true}) {
      CAPTURE(undone);
      Scene scene;
      Claim claim = kClaim;
      claim.owner_returns = true;  // then the server remembers the request
      const auto lock = take(scene, type, claim);
      scene.server.cli({"CONFIG", "SET", "maxmemory", "1"});
      CHECK(scene.renew(*lock));
      if (undone) {
        CHECK_FALSE(scene.redis.run(*lock->undo(Wake::waiters)).is_error());
      } else {
        CHECK(scene.release(*lock).how == Released::How::yes);
      }
      CHECK(!scene.renew(*lock));
    }
  }
}

TEST_CASE("each kind has a row of what can be done with it") {
  for (const Kind* kind : all_kinds()) CHECK(actions_of(*kind).kind == kind);
  for (const LockType& type : lock_types()) {
    const bool can_be_held = actions_of(*type.kind).hold != nullptr;
    CHECK(can_be_held);
  }
}

TEST_CASE("each kind of lock is removed by force, and what is no lock is not") {
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    Scene scene;
    const auto lock = take(scene, type);
    const Kind& kind = *seen(scene).kind;
    if (type.kind == &kinds::permit) {
      const bool removable = actions_of(kind).force != nullptr;
      CHECK(!removable);
      continue;
    }
    const Reply reply = scene.redis.run(actions_of(kind).force(kName, kClaim.owner, PubSub::classic));
    CHECK(decode_forced(kName, kind.noun, reply).how == Forced::How::removed);
    CHECK(!scene.renew(*lock));
  }
}

TEST_CASE("a release of each type is announced where its kind says") {
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    const auto lock = type.make({.claim = kClaim});
    for (const Channel& channel : lock->channels()) {
      const bool announced = type.kind->channel != nullptr;
      REQUIRE(announced);
      CHECK(channel.str().starts_with(type.kind->channel(kName).str()));
    }
    if (type.kind->channel == nullptr) CHECK(lock->channels().empty());
  }
}

TEST_CASE("several keys of each type but a pool are taken by one script") {
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    const Script* several = type.make({.claim = kClaim})->ask().script->several;
    CHECK((several != nullptr) == (type.kind != &kinds::permit));
  }
}
