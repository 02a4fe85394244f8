#include "sync/kinds/fenced.h"

#include <doctest/doctest.h>

#include "support/scene.h"

using namespace rlock;
using namespace rlock::test;

namespace {

FencedLock fenced(const std::string& owner, Hold hold = Hold::first) {
  return FencedLock{{.name = LockName{"deploy"}, .owner = Owner{owner}, .lease = Milliseconds{30000}}, hold};
}

std::int64_t token_of(const AcquireAnswer& answer) { return std::get<Held>(answer).fence.value(); }

}  // namespace

TEST_CASE("a fenced lock draws its token from Redisson's counter") {
  const FencedLock lock = fenced("me:1");
  CHECK(lock.ask().keys == std::vector<std::string>{"deploy", "redisson_lock_token:{deploy}",
                                                    "redisson_unlock_latch:{deploy}:line",
                                                    "redisson_unlock_latch:{deploy}:line:waiters",
                                                    "redisson_unlock_latch:{deploy}:line:facts"});
  CHECK(lock.channels() == std::vector{Channel{"redisson_lock__channel:{deploy}"}});
}

TEST_CASE("tokens grow from hold to hold, also after the lock was forced or has ended by itself") {
  Scene scene;
  CHECK(token_of(scene.ask(fenced("a:1"))) == 1);
  scene.release(fenced("a:1"));
  CHECK(token_of(scene.ask(fenced("b:1"))) == 2);
  scene.redis.run(Lock::force(LockName{"deploy"}, Owner{}, PubSub::classic));
  CHECK(token_of(scene.ask(fenced("c:1"))) == 3);
  scene.server.del("deploy");
  CHECK(token_of(scene.ask(fenced("d:1"))) == 4);
  CHECK(scene.all() == "deploy (ends) hash ['d:1', '1']\nredisson_lock_token:{deploy} (stays) string '4'");
}

TEST_CASE("a fenced acquire that is sent twice draws one token and tells it twice") {
  Scene scene;
  const FencedLock lock = fenced("me:1");
  const auto [first, second] = scene.redis.twice(lock.ask());
  CHECK(token_of(lock.read(first)) == 1);
  CHECK(token_of(lock.read(second)) == 1);
}

TEST_CASE("a refused acquire draws no token") {
  Scene scene;
  scene.ask(fenced("me:1"));
  CHECK(is_busy(scene.ask(fenced("you:1"))));
  CHECK(scene.server.cli({"GET", "redisson_lock_token:{deploy}"}) == "1");
}

TEST_CASE("a hold inside a hold has a token of its own, once") {
  Scene scene;
  scene.ask(fenced("me:1"));
  const FencedLock inner = fenced("me:1", Hold::inner);
  const auto [first, second] = scene.redis.twice(inner.ask());
  CHECK(token_of(inner.read(first)) == 2);
  CHECK(token_of(inner.read(second)) == 2);
  CHECK(scene.server.cli({"HGET", "deploy", "me:1"}) == "2");
  CHECK(scene.release(inner).how == Released::How::still_held);
}

TEST_CASE("an inner hold whose token was lost draws a new one if a sibling has drawn meanwhile") {
  Scene scene;
  scene.ask(fenced("me:1"));
  const FencedLock slow = fenced("me:1", Hold::inner), sibling = fenced("me:1", Hold::inner);
  CHECK(token_of(scene.ask(slow)) == 2);  // this reply is lost
  CHECK(token_of(scene.ask(sibling)) == 3);
  CHECK(token_of(scene.ask(slow)) == 4);
  CHECK(token_of(scene.ask(slow)) == 4);
  CHECK(scene.server.cli({"HGET", "deploy", "me:1"}) == "3");
}

TEST_CASE("a fenced lock and an ordinary one exclude each other") {
  Scene scene;
  const Lock plain{{.name = LockName{"deploy"}, .owner = Owner{"you:1"}, .lease = Milliseconds{30000}}};
  scene.ask(plain);
  CHECK(is_busy(scene.ask(fenced("me:1"))));
  scene.release(plain);
  scene.ask(fenced("me:1"));
  CHECK(is_busy(scene.ask(plain)));
}

TEST_CASE("a counter that is no number is refused before anything is taken") {
  for (const Words& junk :
       {Words{"SET", "redisson_lock_token:{deploy}", "x"}, {"RPUSH", "redisson_lock_token:{deploy}", "1"}}) {
    Scene scene;
    scene.server.cli(junk);
    const std::string before = scene.all();
    CHECK(std::get<Refused>(scene.ask(fenced("me:1"))).why == Refused::Why::wrong_type);
    CHECK(scene.all() == before);
  }
}
