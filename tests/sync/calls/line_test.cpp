// The place of a waiter in the line of a lock, and what waiters are told when it changes or the lock is released.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "support/contains.h"
#include "support/line_scene.h"
#include "support/skipped.h"
#include "sync/calls/answers.h"
#include "sync/kinds/arrival.h"
#include "sync/kinds/fenced.h"
#include "sync/kinds/lock.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

TEST_CASE(
    "a waiter has a place in the order of arrival, and an acquire without a wait leaves nothing behind") {
  LineScene scene;
  scene.ask("a:1");
  CHECK(busy(scene.ask("b:1")).position == 1);
  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(busy(scene.ask("b:1")).waiters == 2);
  CHECK(busy(scene.ask("b:1")).holder == "a:1");
  CHECK(scene.line() == "b:1\nc:1");

  const Busy& left = busy(scene.ask(Lock{leaving("d:1")}));
  CHECK_FALSE(left.position);
  CHECK(left.waiters == 2);
  CHECK(scene.line() == "b:1\nc:1");
  CHECK(scene.server.pttl(kLine) > 0);
  CHECK(scene.server.pttl(kLine + ":waiters") > 0);
}

TEST_CASE("the facts of a waiter end with the line") {
  LineScene scene;
  scene.ask("a:1");
  scene.server.cli({"HSET", kLine + ":facts", "b:1", "{}"});
  scene.ask("b:1");
  CHECK(scene.server.pttl(kLine + ":facts") > 0);
}

TEST_CASE("the further back a waiter stands, the more seldom it asks, but at least every two minutes") {
  LineScene scene;
  scene.ask("a:1");
  for (int i = 1; i <= 120; ++i) {
    CAPTURE(i);
    const Busy place = busy(scene.ask("b:" + std::to_string(i)));
    CHECK(place.position == i);
    const Milliseconds sleeps{i <= 5 ? i * 2000 : std::min(20000 + i * 1000, 120000)};
    CHECK(place.retry_after == sleeps);
  }
}

TEST_CASE("when the lease ends, the first five waiters ask one after the other") {
  LineScene scene;
  Claim holder = waiting("a:1");
  holder.lease = 1500ms;
  scene.ask(Lock{holder});
  for (int i = 1; i <= 6; ++i) {
    CAPTURE(i);
    const Busy place = busy(scene.ask("b:" + std::to_string(i)));
    CHECK((place.retry_after <= 1500ms + (i - 1) * 200ms) == (i <= 5));
  }
}

TEST_CASE("in a cluster a waiter that hears only the sharded message counts as alive") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  LineScene scene;
  Listener first{scene.server, Channel{kLockChannel + ":b:1"}, /*sharded=*/true};
  for (const char* owner : {"a:1", "b:1"}) scene.ask(in_cluster(owner));
  scene.Scene::release(in_cluster("a:1"));
  CHECK(first.heard() == "0");
  CHECK(scene.line() == "b:1");
}

TEST_CASE("a place that was lost with the server is taken again by how long its owner has waited") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("c:1");
  CHECK(busy(scene.ask(Lock{waiting("c:1")})).position == 1);
  const Lock earlier{waiting("b:1")};
  CHECK(busy(earlier.read(scene.redis.run(earlier.ask(60000ms)))).position == 1);
  CHECK(scene.line() == "b:1\nc:1");
}

TEST_CASE(
    "waiters behind one that has waited longer learn that they have moved back, as far as they listen") {
  LineScene scene;
  for (const char* owner : {"a:1", "c:1", "d:1", "e:1"}) scene.ask(owner);
  Listener first = scene.listener("c:1");
  Listener second = scene.listener("d:1");
  Listener third = scene.listener("e:1");
  const Lock earlier{waiting("b:1")};
  CHECK(busy(earlier.read(scene.redis.run(earlier.ask(60000ms)))).position == 1);
  const auto moved_to = [](Listener& listener, const std::string& place) {
    const std::string heard = listener.heard();  // the place, and the rest of the lease
    return heard.starts_with(place + " ") && std::stoi(heard.substr(2)) > 0;
  };
  CHECK(moved_to(first, "2"));
  CHECK(moved_to(second, "3"));
  CHECK(third.silence());
}

TEST_CASE("a new line is announced once, to the waiters of a lost line") {
  LineScene scene;
  scene.ask("a:1");
  Listener all{scene.server, Channel{kLockChannel + ":"}};
  scene.ask("b:1");
  CHECK(all.heard() == "0");  // announces the line that begins with b
  scene.ask("c:1");
  CHECK(all.silence());
  scene.server.cli({"DEL", kLine});
  scene.ask("c:1");
  CHECK(all.heard() == "0");
  scene.ask("b:1");
  CHECK(all.silence());
}

TEST_CASE("a waiter whose line was lost tells the others to ask again when it acquires the lock") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  scene.server.cli({"DEL", kLine});
  scene.release("a:1");
  Listener all{scene.server, Channel{kLockChannel + ":"}};
  const Lock earlier{waiting("b:1")};
  CHECK(std::holds_alternative<Held>(earlier.read(scene.redis.run(earlier.ask(60000ms)))));
  CHECK(all.heard() == "0");
}

TEST_CASE("a waiter that is dropped from a line without its hash is told to ask again") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  scene.ask("c:1");
  Listener second = scene.listener("b:1"), third = scene.listener("c:1");
  scene.server.cli({"DEL", kLine + ":waiters"});
  scene.release("a:1");
  CHECK(second.heard() == "0");
  CHECK(third.heard() == "0");
}

TEST_CASE("a newcomer stands behind the last of the line, though the server's clock was set back") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  // As if b had arrived before the clock was set back by a minute.
  std::vector<std::string> known = scene.known_of("b:1");
  CHECK(std::stoll(known.at(1)) > 1'700'000'000'000'000);  // microseconds since the epoch
  known.at(1) = std::to_string(std::stoll(known.at(1)) + 60'000'000);
  scene.server.cli({"ZADD", kLine, known.at(1), "b:1"});
  scene.server.cli({"HSET", kLine + ":waiters", "b:1", joined(known, " ")});

  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(busy(scene.ask("d:1")).position == 3);
  const Lock earlier{waiting("e:1")};  // it has waited longer than the whole line, and has lost its place
  CHECK(busy(earlier.read(scene.redis.run(earlier.ask(120000ms)))).position == 1);
  CHECK(scene.line() == "e:1\nb:1\nc:1\nd:1");
}

TEST_CASE("an impossible score in the line moves no later waiter") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  scene.server.cli({"ZADD", kLine, "1e300", "x"});
  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(scene.line() == "b:1\nc:1\nx");
}

TEST_CASE(
    "a waiter with --newest stands behind those that came before it, and the next one takes over its place") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  const auto newest = [&](const std::string& owner, Milliseconds waited = 0ms) {
    Claim claim = waiting(owner);
    claim.ticket = std::get<Held>(scene.ask(Arrival{claim, kinds::lock, owner})).ticket;
    const Lock lock{claim};
    return busy(lock.read(scene.redis.run(lock.ask(waited)))).position;
  };
  CHECK(newest("c:1") == 2);
  const Listener behind = scene.listener("d:1");
  scene.ask("d:1");
  CHECK(newest("e:1") == 2);
  CHECK(scene.line() == "b:1\ne:1\nd:1");
  // It waits longer than all others, because its arrival was long on its way.
  CHECK(newest("f:1", 60000ms) == 1);
  CHECK(scene.line() == "f:1\nb:1\nd:1");
}

TEST_CASE("the notes of a line without its hash end with the line") {
  LineScene scene;
  const Listener redisson{scene.server, Channel{kLockChannel}};
  const Listener redisson_too{scene.server, Channel{kLockChannel}};
  const Listener redisson_three{scene.server, Channel{kLockChannel}};
  const Listener redisson_four{scene.server, Channel{kLockChannel}};
  scene.ask("a:1");
  for (int i = 0; i < 501; ++i) scene.ask("b:" + std::to_string(i));  // a release looks at 500 waiters
  scene.server.cli({"DEL", kLine + ":waiters"});
  scene.release("a:1");
  REQUIRE(scene.server.has(kLine));
  REQUIRE(scene.server.has(kLine + ":waiters"));
  CHECK(scene.server.pttl(kLine + ":waiters") > scene.server.pttl(kLine) - 1000);
}

TEST_CASE("a new holder leaves the line, and the waiters at its front learn their places") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1", "d:1", "e:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  Listener third = scene.listener("d:1");
  Listener fourth = scene.listener("e:1");
  scene.server.cli({"HSET", kLine + ":facts", "b:1", "{}", "c:1", "{}"});
  scene.release("a:1");
  CHECK(first.heard() == "0");

  CHECK(second.heard() == "2 0");
  CHECK(third.heard() == "3 0");

  CHECK(is_held(scene.ask("b:1")));
  CHECK(second.heard().starts_with("1 "));
  CHECK(third.heard().starts_with("2 "));
  CHECK(fourth.silence());
  CHECK(scene.line() == "c:1\nd:1\ne:1");
  CHECK(scene.server.cli({"HEXISTS", kLine + ":waiters", "b:1"}) == "0");
  CHECK(scene.server.cli({"HEXISTS", kLine + ":facts", "b:1"}) == "0");
}

TEST_CASE("an empty line leaves no key behind") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  scene.release("a:1");
  CHECK(is_held(scene.ask("c:1")));
  scene.ask("b:1");
  scene.release("c:1");  // b:1 was passed once, and nobody listens
  CHECK(scene.server.cli({"KEYS", "*"}).empty());
}

TEST_CASE("a waiter that gives up leaves the line, and passes on that it was told") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  Listener next = scene.listener("c:1");
  scene.release("a:1");
  CHECK(first.heard() == "0");
  CHECK(next.heard() == "2 0");

  scene.undo(Lock{waiting("b:1")});
  CHECK(next.heard().starts_with("1 "));
  CHECK(next.heard() == "0");
  CHECK(scene.line() == "c:1");
}

TEST_CASE("a waiter leaves the line of a key that has become a text, and its undo does not fail") {
  LineScene scene;
  scene.ask("holder:1");
  scene.ask("first:1");
  scene.server.cli({"SET", "deploy", "a text"});
  CHECK(scene.release("first:1").how == Released::How::not_ours);
  CHECK(scene.line() == "");
}

TEST_CASE("a new second asks soon if the lock is free, in case the first is frozen") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1", "d:1"}) scene.ask(owner);
  const Listener first = scene.listener("b:1");
  Listener third = scene.listener("d:1");
  scene.release("a:1");
  scene.undo(Lock{waiting("c:1")});
  CHECK(third.heard() == "2 0");
}

TEST_CASE("a forced release tells the first of the line") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  scene.redis.run(Lock::force(LockName{"deploy"}, Owner{}, PubSub::classic));
  CHECK(first.heard() == "0");
}

TEST_CASE("a forced release without rights to publish says why no waiter was told") {
  LineScene scene;
  const auto force = [&] {
    scene.ask("a:1");
    const Reply reply = scene.redis.run(Lock::force(LockName{"deploy"}, Owner{}, PubSub::classic));
    return decode_forced(LockName{"deploy"}, "lock", reply).unannounced;
  };
  scene.become("mute", {"~*", "+@all", "resetchannels"});
  CHECK(contains(force(), "channel"));
  scene.become("half", {"~*", "+@all", "resetchannels", "&" + kLockChannel});
  CHECK(force().empty());
  const std::string later = std::to_string(std::stoll(scene.server.cli({"TIME"})) * 1000 + 60000);
  scene.server.cli({"RPUSH", "redisson_lock_queue:{deploy}", "java:1"});
  scene.server.cli({"ZADD", "redisson_lock_timeout:{deploy}", later, "java:1"});
  CHECK(contains(force(), "channel"));
  scene.server.cli({"DEL", "redisson_lock_queue:{deploy}"});
  scene.ask("a:1");
  scene.ask("b:1");
  CHECK(contains(force(), "channel"));
}

TEST_CASE("if two processes wait as one owner, the other one asks again when one gives up") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  Listener other = scene.listener("b:1");
  scene.undo(Lock{waiting("b:1")});
  CHECK(other.heard() == "0");
}

TEST_CASE("asking and giving up twice changes nothing") {
  LineScene scene;
  scene.ask("a:1");
  const Lock waiter{waiting("b:1")};
  scene.redis.twice(waiter.ask());
  CHECK(scene.line() == "b:1");
  scene.redis.twice(*waiter.undo(Wake::waiters));
  CHECK(scene.line().empty());
  CHECK(scene.lock() == "deploy (ends) hash ['a:1', '1']");
}

TEST_CASE("a fenced lock and a lock stand in one line") {
  LineScene scene;
  Listener first = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  scene.ask("a:1");
  const FencedLock fenced{waiting("b:1")};
  CHECK(busy(scene.ask(fenced)).position == 1);
  CHECK(busy(scene.ask("c:1")).position == 2);
  scene.release("a:1");
  CHECK(is_held(scene.ask(fenced)));
  CHECK(scene.line() == "c:1");
}

TEST_CASE("a key of another type in the place of a line refuses a waiter, and hinders no release") {
  LineScene scene;
  scene.ask("a:1");
  scene.server.cli({"SET", kLine, "x"});
  const AcquireAnswer refused = scene.ask("b:1");
  CHECK(std::get<Failure>(refused).kind == Error::wrong_type);
  CHECK(contains(std::get<Failure>(refused).text, kLine));  // it names the possible keys
  const Released released = scene.release("a:1");
  CHECK(released.how == Released::How::yes);
  CHECK(contains(released.unannounced, "WRONGTYPE"));
}
