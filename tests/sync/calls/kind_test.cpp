// The table of kinds: every entry that a lock type leaves under its key can be found, released and removed
// through the table.

#include "sync/watch/kind_actions.h"

#include <doctest/doctest.h>

#include "cmd/hold/request/lock_types.h"
#include "cmd/verbs/found_lock.h"
#include "support/contains.h"
#include "support/redis_server.h"
#include "support/scene.h"
#include "support/usual_names.h"
#include "sync/calls/answers.h"
#include "sync/calls/foreign.h"
#include "sync/watch/inspect.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const Claim kClaim{.name = kKey, .owner = Owner{"me:1"}};

std::unique_ptr<Lockable> take_hold(Scene& scene, const LockType& type, const Claim& claim = kClaim) {
  auto lock =
      type.make({.claim = claim,
                 .options = {.permits = type.kind == &kinds::permit ? std::optional{2} : std::nullopt}});
  REQUIRE(is_held(scene.ask(*lock)));
  return lock;
}

/// Inspects the key, given the facts of our owner: an inspection recognizes permits only if it knows their
/// owners.
Inspection seen(Scene& scene) {
  const Facts facts{{kClaim.owner, Metadata{}}};
  return read_inspection(kKey, {.facts = facts}, scene.redis.run(inspect_key(kKey, facts)));
}

}  // namespace

TEST_CASE("the content of each type's key is recognized as its kind") {
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    Scene scene;
    const auto lock = take_hold(scene, type);
    const Inspection found = seen(scene);
    REQUIRE(found.kind != nullptr);
    CHECK(&found.kind->plainest() == &type.kind->plainest());
    REQUIRE(found.holders.size() == 1);
    CHECK(found.holders.front().owner == kClaim.owner);
  }
}

TEST_CASE("key and owner are enough to renew and release a hold of each type") {
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    Scene scene;
    const auto lock = take_hold(scene, type);
    const auto found = found_lock(seen(scene), kClaim);
    REQUIRE(found);
    CHECK(scene.renew(*found));
    CHECK(scene.release(*found).how == Released::How::yes);
    CHECK_FALSE(scene.renew(*lock));
    CHECK_FALSE(found_lock(seen(scene), kClaim));
  }
}

TEST_CASE("the question whether a hold of each type is still ours changes nothing, and extends no lease") {
  const auto rest_of = [](Scene& scene, const LockType& type) {  // contents() shows the leases of permits
    if (type.kind == &kinds::permit) return 0LL;
    return std::stoll(scene.server.cli({"PTTL", type.name == "read" ? "{k}:me:1:rwlock_timeout:1" : "k"}));
  };
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    Scene scene;
    const auto lock = take_hold(scene, type);
    const auto ours = [&](const Lockable& hold) {
      const Reply reply = scene.redis.run(hold.still_ours(Milliseconds{20000}));
      return std::holds_alternative<Renewed>(hold.read_renewal(reply));
    };
    const std::string before = scene.all();
    const long long rest = rest_of(scene, type);
    CHECK(ours(*lock));
    CHECK(scene.all() == before);
    CHECK(rest_of(scene, type) <= rest + 1);  // some servers round up
    CHECK(scene.release(*lock).how == Released::How::yes);
    const std::string free = scene.all();
    CHECK_FALSE(ours(*lock));
    CHECK(scene.all() == free);
  }
}

TEST_CASE(
    "the question whether a hold is still ours leaves it its lease, even if an operator has taken its TTL") {
  for (const LockType& type : lock_types()) {
    if (type.kind == &kinds::permit) continue;  // its leases are scores
    CAPTURE(type.name);
    Scene scene;
    const auto lock = take_hold(scene, type);
    scene.server.cli({"PERSIST", "k"});
    scene.redis.run(lock->still_ours(Milliseconds{20000}));
    CHECK(std::stoll(scene.server.cli({"PTTL", "k"})) > 15000);
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
      const auto lock = take_hold(scene, type, claim);
      scene.server.cli({"CONFIG", "SET", "maxmemory", "1"});
      CHECK(scene.renew(*lock));
      if (undone) {
        CHECK_FALSE(scene.redis.run(*lock->undo(Wake::waiters)).is_error());
      } else {
        CHECK(scene.release(*lock).how == Released::How::yes);
      }
      CHECK_FALSE(scene.renew(*lock));
    }
  }
}

TEST_CASE("no refusal advises to delete a synchronizer, nor the key of a program that uses it") {
  for (const std::string wanted : {"a lock", "a semaphore", "a pool of permits", "a latch"}) {
    for (const Kind& kind : kinds::all) {
      const std::string text = refuse_foreign(kKey, wanted, kind).text;
      CHECK_FALSE_MESSAGE(contains(text, "delete"), text);
      CHECK_MESSAGE(contains(text, "choose another key"), text);
    }
    const std::string text = refuse_foreign(kKey, wanted, "list").text;
    CHECK_MESSAGE(text.ends_with("; choose another key, or delete this one if no program uses it"), text);
  }
}

TEST_CASE("only a verb with --type is advised to use another type") {
  const auto advises = [](const char* wanted) {
    return contains(refuse_foreign(kKey, wanted, kinds::lock).text, "--type");
  };
  for (const char* wanted : {"a lock", "a plain token lock", "a read/write lock"}) CHECK(advises(wanted));
  for (const char* wanted : {"a semaphore", "a pool of permits", "a latch"}) CHECK_FALSE(advises(wanted));
}

TEST_CASE("each kind has a row with its operations") {
  for (const Kind& kind : kinds::all) CHECK(actions_of(kind).kind == &kind);
  for (const LockType& type : lock_types()) {
    const bool can_be_held = actions_of(*type.kind).hold != nullptr;
    CHECK(can_be_held);
  }
}

TEST_CASE("each kind of lock is removed by force, and other keys are refused") {
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    Scene scene;
    const auto lock = take_hold(scene, type);
    const Kind& kind = *seen(scene).kind;
    if (type.kind == &kinds::permit) {
      const bool removable = actions_of(kind).force != nullptr;
      CHECK_FALSE(removable);
      continue;
    }
    const Reply reply = scene.redis.run(actions_of(kind).force(kKey, kClaim.owner, PubSub::classic));
    CHECK(decode_forced(kKey, kind.noun, reply).how == Forced::How::removed);
    CHECK_FALSE(scene.renew(*lock));
  }
}

TEST_CASE("a release of each type is announced where its kind says") {
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    const auto lock = type.make({.claim = kClaim});
    for (const Channel& channel : lock->channels()) {
      const bool announced = type.kind->channel != nullptr;
      REQUIRE(announced);
      CHECK(channel.str().starts_with(type.kind->channel(kKey).str()));
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
