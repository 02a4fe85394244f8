#include "sync/kinds/semaphore.h"

#include <doctest/doctest.h>

#include <list>
#include <optional>
#include <random>

#include "base/owner_id.h"
#include "base/text.h"
#include "support/contains.h"
#include "support/scene.h"
#include "sync/kinds/pool.h"
#include "sync/records/metadata.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const LockName kSem{"sem"};
const Channel kSemChannel{"redisson_sc:{sem}"};
const std::string kSemLine = "redisson_unlock_latch:{sem}:line";

Semaphore take(std::int64_t count) { return Semaphore{{.name = kSem, .owner = new_owner()}, count}; }

/// The semaphore as a waiter asks for it.
Semaphore wait(const std::string& owner, std::int64_t count = 1,
               Semaphore::Absent absent = Semaphore::Absent::refuse) {
  return Semaphore{{.name = kSem, .owner = Owner{owner}, .if_busy = IfBusy::place}, count, absent};
}
Pool pool() { return Pool{kSem, PoolKind::semaphore, PubSub::classic}; }

struct Counted : Scene {
  std::string available() { return server.cli({"GET", "sem"}); }
  CounterAnswer init(std::int64_t total, Milliseconds expire = Milliseconds{0}) {
    const Pool one = pool();
    return one.read(redis.run(one.init(total, expire)));
  }
  CounterAnswer remove() {
    const Pool one = pool();
    return one.read(redis.run(one.remove()));
  }
  Listener listener(const std::string& owner) { return {server, Channel{kSemChannel.str() + ":" + owner}}; }
  std::string line() { return server.cli({"ZRANGE", kSemLine, "0", "-1"}); }
  CounterAnswer add(std::int64_t count) {
    const Pool one = pool();
    return one.read_count(redis.run(one.add(count)));
  }
};

}  // namespace

TEST_CASE("a semaphore is a number, and its releases are announced with the available permits") {
  Counted scene;
  Listener waiter{scene.server, kSemChannel};
  CHECK(scene.init(2).how == CounterAnswer::How::done);
  CHECK(waiter.heard() == "2");
  CHECK(scene.server.cli({"GET", "sem"}) == "2");
  CHECK(is_held(scene.ask(take(2))));
  CHECK(scene.available() == "0");
  CHECK(is_busy(scene.ask(take(1))));
  CHECK(scene.add(1).count == 1);
  CHECK(waiter.heard() == "1");
}

TEST_CASE("an acquire of several permits takes all or none") {
  Counted scene;
  scene.init(2);
  CHECK(is_busy(scene.ask(take(3))));
  CHECK(scene.available() == "2");
}

TEST_CASE("a client that may not give a permit of a semaphore back takes none") {
  Counted scene;
  scene.init(1);
  scene.server.cli({"ACL", "SETUSER", "default", "-incrby"});
  CHECK_FALSE(is_held(scene.ask(take(1))));
  CHECK(scene.available() == "1");
}

TEST_CASE("only positive numbers are published") {
  Counted scene;
  Listener waiter{scene.server, kSemChannel};
  scene.server.cli({"SET", "sem", "-3"});
  scene.add(2);
  scene.add(-1);
  scene.add(2);
  CHECK(waiter.silence());
  scene.add(1);
  CHECK(waiter.heard() == "1");
}

TEST_CASE("a semaphore acquire that is sent twice takes its permits once") {
  Counted scene;
  scene.init(5);
  const Semaphore request = take(2);
  for (int copy = 0; copy < 3; ++copy) CHECK(is_held(scene.ask(request)));
  CHECK(scene.available() == "3");
}

TEST_CASE("an undone acquire returns its permits, once, and a late copy takes nothing") {
  Counted scene;
  scene.init(5);
  const Semaphore came_through = take(2);
  scene.ask(came_through);
  Listener waiter{scene.server, kSemChannel};
  scene.undo(came_through);
  scene.undo(came_through);
  CHECK(waiter.heard() == "5");
  CHECK(waiter.silence());
  CHECK(scene.available() == "5");
  CHECK(is_busy(scene.ask(came_through)));
  const Semaphore came_late = take(2);
  scene.undo(came_late);
  CHECK(is_busy(scene.ask(came_late)));
  CHECK(scene.available() == "5");
}

TEST_CASE("every operation on a semaphore may be sent twice") {
  Counted scene;
  const Pool made = pool();
  const Pool added = pool();
  const Pool drained = pool();
  const Pool removed = pool();
  const auto same = [&](const Call& call) {
    const auto [first, second] = scene.redis.twice(call);
    return written(first) == written(second);
  };
  CHECK(same(made.init(3)));
  CHECK(same(added.add(2)));
  CHECK(scene.available() == "5");
  CHECK(written(scene.redis.run(drained.drain())) == "['done', 5]");
  scene.add(4);
  CHECK(written(scene.redis.run(drained.drain())) == "['done', 5]");
  CHECK(scene.available() == "4");
  CHECK(same(removed.remove()));
  CHECK_FALSE(scene.server.has("sem"));
}

TEST_CASE("releasing, draining, taking and deleting make no semaphore") {
  Counted scene;
  CHECK(scene.add(1).how == CounterAnswer::How::absent);
  CHECK(pool().read_count(scene.redis.run(pool().drain())).how == CounterAnswer::How::absent);
  CHECK(pool().read(scene.redis.run(pool().remove())).how == CounterAnswer::How::absent);
  const auto refused = std::get<Refused>(scene.ask(take(1)));
  CHECK(refused.why == Refused::Why::absent);
  CHECK(refused.text == "there is no semaphore 'sem'; to create it: rlock sem init sem N");
  CHECK_FALSE(std::get<0>(pool().read_status(scene.redis.run(pool().status()))));
  CHECK(scene.all().empty());
}

TEST_CASE("a semaphore that exists is not made again") {
  Counted scene;
  scene.init(2);
  CHECK(scene.init(5).how == CounterAnswer::How::exists);
  CHECK(scene.available() == "2");
}

TEST_CASE("adding and draining leave the TTL of a semaphore") {
  Counted scene;
  scene.server.cli({"SET", "sem", "3", "PX", "60000"});
  scene.add(1);
  scene.redis.run(pool().drain());
  CHECK(scene.available() == "0");
  CHECK(scene.server.pttl("sem") > 50000);
}

TEST_CASE("a key that is no semaphore is refused and left unchanged") {
  const Words others[] = {
      {"SET", "sem", "token"},
      {"SET", "sem", "1.5"},
      {"SET", "sem", "9223372036854775807"},
      {"SET", "sem", "12345678901234567890"},
      {"SET", "sem", "007"},  // INCR refuses this number and the next ones
      {"SET", "sem", "-07"},
      {"SET", "sem", "00"},
      {"SET", "sem", "-0"},
      {"SET", "sem", "+1"},
      {"RPUSH", "sem", "a"},
      {"SADD", "sem", "a"},
      {"ZADD", "sem", "1", "a"},
      {"HSET", "sem", "a:1", "1"},
      {"HSET", "sem", "mode", "read", "a:1", "1"},
  };
  Counted scene;
  for (const Words& other : others) {
    CAPTURE(joined(other, " "));
    scene.server.cli({"FLUSHALL"});
    scene.server.cli(other);
    const std::string before = scene.all();

    const Semaphore request = take(1);
    CHECK(std::get<Refused>(scene.ask(request)).why == Refused::Why::wrong_type);
    CHECK(scene.init(3).how == CounterAnswer::How::refused);
    CHECK(scene.add(1).how == CounterAnswer::How::refused);
    CHECK(pool().read_count(scene.redis.run(pool().drain())).how == CounterAnswer::How::refused);
    CHECK(pool().read(scene.redis.run(pool().remove())).how == CounterAnswer::How::refused);
    CHECK(std::holds_alternative<Refused>(pool().read_status(scene.redis.run(pool().status()))));
    CHECK(scene.all() == before);
    scene.undo(request);
    CHECK(contents(scene.redis, "sem") == before);
  }
}

TEST_CASE("permits of a semaphore are conserved through repetitions and undos") {
  constexpr std::int64_t kTotal = 7;
  Counted scene;
  scene.init(kTotal);
  std::mt19937 chance{42};
  const auto pick = [&](unsigned bound) { return static_cast<std::int64_t>(chance() % bound); };
  std::int64_t taken = 0;
  for (int step = 0; step < 1000; ++step) {
    const std::int64_t count = 1 + pick(3);
    const Semaphore request = take(count);
    bool held = false;
    for (std::int64_t copies = 1 + pick(2); copies > 0; --copies) held = is_held(scene.ask(request));
    if (held && pick(2) == 0) {
      for (std::int64_t copies = 1 + pick(2); copies > 0; --copies) scene.undo(request);
    } else if (held) {
      taken += count;
    }
    if (taken > 0 && pick(2) == 0) {
      const Pool release = pool();
      const Call call = release.add(1);
      for (std::int64_t copies = 1 + pick(2); copies > 0; --copies) scene.redis.run(call);
      --taken;
    }
    REQUIRE(std::stoll(scene.available()) + taken == kTotal);
  }
}

TEST_CASE("a waiter for a semaphore has a place in the order of arrival, and a permit wakes one waiter") {
  Counted scene;
  scene.init(0);
  std::list<Listener> waiters;
  for (const std::string owner : {"a:1", "b:1", "c:1"}) {
    const AcquireAnswer answer = scene.ask(wait(owner));
    REQUIRE(is_busy(answer));
    CHECK(std::get<Busy>(answer).position == static_cast<std::int64_t>(waiters.size()) + 1);
    waiters.emplace_back(scene.server, Channel{kSemChannel.str() + ":" + owner});
  }
  CHECK(scene.line() == "a:1\nb:1\nc:1");
  Listener redisson{scene.server, kSemChannel};
  scene.add(1);
  CHECK(redisson.heard() == "1");  // the announcement for Redisson stays the same
  CHECK(waiters.front().heard() == "0");
  CHECK(waiters.back().heard() == "3 0");  // it asks only if those before it do not

  CHECK(is_held(scene.ask(wait("a:1"))));
  CHECK(scene.line() == "b:1\nc:1");
  CHECK(scene.available() == "0");
}

TEST_CASE("as many waiters for a semaphore are told as the returned permits can serve") {
  Counted scene;
  scene.init(0);
  scene.ask(wait("a:1", 2));
  for (const std::string owner : {"b:1", "c:1"}) scene.ask(wait(owner));
  Listener first = scene.listener("a:1"), second = scene.listener("b:1"), third = scene.listener("c:1");
  scene.add(3);
  CHECK(first.heard() == "0");
  CHECK(second.heard() == "0");
  CHECK(third.heard() == "3 0");  // it asks soon, in case one of the two is frozen
}

TEST_CASE("the line of a semaphore notices one client of Redisson that waits beside its first two waiters") {
  for (const bool beside_redisson : {false, true}) {
    CAPTURE(beside_redisson);
    Counted scene;
    scene.init(0);
    for (const std::string owner : {"a:1", "b:1"}) scene.ask(wait(owner));
    const Listener told = scene.listener("a:1"), next = scene.listener("b:1");
    const Listener first{scene.server, kSemChannel}, second{scene.server, kSemChannel};
    std::optional<Listener> redisson;
    if (beside_redisson) redisson.emplace(scene.server, kSemChannel);
    scene.add(1);
    const std::string note = scene.server.cli({"HGET", kSemLine + ":waiters", ""});
    CHECK((!note.empty() && !note.ends_with(" 0")) == beside_redisson);
  }
}

TEST_CASE(
    "without rights to publish a release of a semaphore still counts, and says why no waiter was told") {
  Counted scene;
  scene.init(0);
  scene.become("mute", {"~*", "+@all", "resetchannels"});
  const CounterAnswer answer = scene.add(1);
  CHECK(answer.how == CounterAnswer::How::done);
  CHECK(contains(answer.unannounced, "channel"));
  CHECK(scene.available() == "1");
}

TEST_CASE("permits that another client returned are announced to the rest of the line by its first waiter") {
  Counted scene;
  scene.init(0);
  for (const std::string owner : {"a:1", "b:1", "c:1"}) scene.ask(wait(owner));
  Listener second = scene.listener("b:1"), third = scene.listener("c:1");
  scene.server.cli({"INCRBY", "sem", "2"});
  CHECK(is_held(scene.ask(wait("a:1"))));
  CHECK(second.heard() == "1 0");  // its place in the line; a permit is left, so it asks soon
  CHECK(second.heard() == "0");
  CHECK(third.heard() == "2 0");
  CHECK(third.heard() == "2 0");
  CHECK(third.silence());
}

TEST_CASE("a waiter that gives up on a semaphore leaves the line, and passes on that it was told") {
  Counted scene;
  scene.init(0);
  const Semaphore first = wait("a:1");
  scene.ask(first);
  scene.ask(wait("b:1"));
  Listener told = scene.listener("a:1"), next = scene.listener("b:1");
  scene.add(1);
  CHECK(told.heard() == "0");
  CHECK(next.heard() == "2 0");
  scene.undo(first);
  CHECK(next.heard().starts_with("1 "));
  CHECK(next.heard() == "0");
  CHECK(scene.available() == "1");
  scene.undo(first);
  CHECK(next.silence());
}

TEST_CASE("no waiter for a semaphore is passed more than ten times") {
  Counted scene;
  scene.init(0);
  scene.ask(wait("a:1"));
  const Listener first = scene.listener("a:1");
  scene.add(20);
  int passed = 0;
  while (passed < 20 && is_held(scene.ask(take(1)))) ++passed;
  CHECK(passed == 10);
}

TEST_CASE("with the option for it an acquire waits for a missing semaphore, and is told when it is made") {
  Counted scene;
  CHECK(is_refused(scene.ask(wait("a:1"))));
  const auto awaits = [](const std::string& owner) { return wait(owner, 1, Semaphore::Absent::await); };
  CHECK(is_busy(scene.ask(awaits("a:1"))));
  CHECK(is_busy(scene.ask(awaits("b:1"))));
  CHECK(is_busy(scene.ask(awaits("c:1"))));
  Listener first = scene.listener("a:1"), second = scene.listener("b:1"), third = scene.listener("c:1");
  scene.init(2);
  CHECK(first.heard() == "0");
  CHECK(second.heard() == "0");
  CHECK(third.heard() == "3 0");  // it asks soon, in case one of the two is frozen
  CHECK(is_held(scene.ask(awaits("a:1"))));
}

TEST_CASE("all waiters for a semaphore are told that it is deleted") {
  Counted scene;
  scene.init(0);
  std::list<Listener> waiters;
  for (const std::string owner : {"a:1", "b:1", "c:1", "d:1"}) {
    scene.ask(wait(owner));
    waiters.emplace_back(scene.server, Channel{kSemChannel.str() + ":" + owner});
  }
  Listener redisson{scene.server, kSemChannel};
  CHECK(scene.remove().how == CounterAnswer::How::done);
  for (Listener& waiter : waiters) CHECK(waiter.heard() == "0");
  CHECK(redisson.silence());  // Redisson would take the message for permits
}

TEST_CASE("if another client deletes a semaphore, the waiters of its line learn of it one after the other") {
  Counted scene;
  scene.init(0);
  const Semaphore first = wait("a:1");
  scene.ask(first);
  scene.ask(wait("b:1"));
  Listener next = scene.listener("b:1");
  scene.server.cli({"DEL", "sem"});
  CHECK(is_refused(scene.ask(first)));
  scene.undo(first);
  CHECK(next.heard().starts_with("1 "));
  CHECK(next.heard() == "0");
}

TEST_CASE("a semaphore may be made without permits, may have less than zero, and ends with its TTL") {
  Counted scene;
  Listener redisson{scene.server, kSemChannel};
  CHECK(scene.init(0, Milliseconds{60000}).how == CounterAnswer::How::done);
  CHECK(scene.available() == "0");
  CHECK(scene.server.pttl("sem") > 50000);
  CHECK(scene.add(-2).count == -2);
  CHECK(scene.add(2).count == 0);
  CHECK(redisson.silence());
  CHECK(scene.server.pttl("sem") > 50000);
}

TEST_CASE("a waiter for a semaphore records its facts, and no holder is recorded") {
  Counted scene;
  scene.init(1);
  const auto say = [&](const Semaphore& one) {
    Metadata facts;
    facts.host = "ci-7";
    scene.redis.run(write_metadata(kSem, *one.asker(), one.hold_entry(), Milliseconds{1}, facts));
  };
  const Semaphore first = wait("a:1"), second = wait("b:1");
  CHECK(is_held(scene.ask(first)));
  say(first);
  CHECK(is_busy(scene.ask(second)));
  say(second);
  CHECK(scene.server.cli({"HKEYS", kSemLine + ":facts"}) == "b:1");
  CHECK_FALSE(scene.server.has("rlock:meta:{sem}"));
  scene.undo(second);
  CHECK_FALSE(scene.server.has(kSemLine + ":facts"));
}
