// The queue of a fair lock that is shared with Redisson.

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "support/contains.h"
#include "support/fair_scene.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;
using How = Released::How;

TEST_CASE("waiters of both kinds take the lock in the order in which they came") {
  FairScene scene;
  auto p1 = scene.peer("p:1"), p2 = scene.peer("p:2"), p3 = scene.peer("p:3");
  scene.ask("a:1");
  CHECK_FALSE(p1.try_queued());
  scene.ask("b:1");
  CHECK_FALSE(p2.try_queued());
  scene.ask("c:1");
  CHECK_FALSE(p3.try_queued());
  CHECK_FALSE(p3.try_once());
  const Words turns{"p:1", "b:1", "p:2", "c:1", "p:3"};
  CHECK(scene.queue() == turns);

  scene.release("a:1");
  CHECK(p1.try_queued());
  CHECK(p1.unlock());
  CHECK_FALSE(p2.try_queued());
  CHECK(is_held(scene.ask("b:1")));
  scene.release("b:1");
  CHECK(p2.try_queued());
  CHECK(p2.unlock());
  CHECK(is_held(scene.ask("c:1")));
  scene.release("c:1");
  CHECK(p3.try_queued());
  CHECK(p3.unlock());
  CHECK(contents(scene.redis).empty());
}

TEST_CASE(
    "our deadline outlasts those of Redisson waiters ahead of us, and at the head it is one lifetime away") {
  FairScene scene;
  auto p1 = scene.peer("p:1");
  auto p2 = scene.peer("p:2");
  scene.ask("a:1");
  p1.try_queued();
  p2.try_queued();
  scene.ask("b:1");
  CHECK(std::abs(scene.deadline_in("b:1") - 620000) <= 5000);
  scene.ask(FairLock{claim("c:1", 3s)});
  // While b:1 stands in the queue, rlock must remember that this place is its own.
  CHECK(scene.server.pttl(kWaiters) > 619000);

  scene.release("a:1");
  p1.try_queued();
  CHECK(std::abs(scene.deadline_in("b:1") - 320000) <= 5000);
  p1.unlock();
  p2.try_queued();
  CHECK(std::abs(scene.deadline_in("b:1") - 20000) <= 5000);
}

TEST_CASE("a living waiter that Redisson dropped from the head is the head again") {
  FairScene scene;
  auto hasty = scene.peer("p:1", 3600000);  // forgets the other waiters an hour early
  scene.ask("a:1");
  hasty.try_queued();
  scene.ask("b:1");
  scene.ask("c:1");
  scene.release("a:1");
  REQUIRE(hasty.try_queued());
  auto last = scene.peer("p:2");
  last.try_queued();
  hasty.unlock();
  REQUIRE(scene.queue() == Words{"p:2"});

  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(scene.queue() == Words{"b:1", "c:1", "p:2"});
  CHECK_FALSE(last.try_queued());
  CHECK(is_held(scene.ask("b:1")));
  scene.release("b:1");
  CHECK(is_held(scene.ask("c:1")));
}

TEST_CASE("a dead waiter of ours at the head does not hold up Redisson for longer than its life") {
  FairScene scene;
  auto p1 = scene.peer("p:1");
  scene.ask("a:1");
  scene.ask(FairLock{claim("dead:1", 3s)});
  p1.try_queued();
  scene.release("a:1");
  CHECK(eventually([&] { return p1.try_queued(); }, 20s));
}

TEST_CASE("a place without a deadline does not block the lock, nor a deadline without a place its owner") {
  FairScene scene;
  scene.server.cli({"RPUSH", kQueue, "ghost:1", "ghost:2", "ghost:1"});
  scene.server.cli({"ZADD", kDeadlines, "9999999999999", "lost:1"});

  CHECK(is_held(scene.ask("a:1")));
  CHECK(contents(scene.redis) == "deploy (ends) hash ['a:1', '1']");
  auto lost = scene.peer("lost:1");
  lost.try_queued();
  CHECK(scene.queue() == Words{"lost:1"});
}

TEST_CASE("when the queue or the deadlines vanish, ours keep their order") {
  for (const auto& key : {kQueue, kDeadlines}) {
    CAPTURE(key);
    FairScene scene;
    scene.ask("a:1");
    for (const char* owner : {"b:1", "c:1", "d:1"}) scene.ask(owner);
    scene.server.del(key);

    CHECK(busy(scene.ask("d:1")).position == 3);
    CHECK(scene.queue() == Words{"b:1", "c:1", "d:1"});
    CHECK(scene.members().size() == 3);
  }
}

TEST_CASE("lost waiters come back to the queue in the order of their arrival") {
  FairScene scene;
  scene.ask("a:1");
  const auto waits = [&](const std::string& owner, const std::string& since) {
    scene.server.cli({"HSET", kWaiters, owner, std::to_string(scene.now() + 20000) + " " + since});
  };
  waits("late:1", "3000");
  waits("early:1", "1000");
  waits("between:1", "2000");
  CHECK(busy(scene.ask("early:1")).position == 1);
  CHECK(scene.queue() == Words{"early:1", "between:1", "late:1"});
}

TEST_CASE("a queue that has the right length, but wrong places, is mended") {
  FairScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  scene.ask("c:1");
  scene.server.del(kQueue);
  scene.server.cli({"RPUSH", kQueue, "c:1", "ghost:1"});
  CHECK(busy(scene.ask("b:1")).position == 1);
  CHECK(scene.queue() == Words{"b:1", "c:1"});
}

TEST_CASE("when a Redisson waiter at the head is dropped, our deadline still outlasts that of the next one") {
  FairScene scene;
  auto p1 = scene.peer("p:1"), p2 = scene.peer("p:2");
  scene.ask("a:1");
  p1.try_queued();
  p2.try_queued();
  scene.ask("b:1");
  scene.server.cli({"ZADD", kDeadlines, "XX", "1", "p:1"});
  scene.ask(FairLock{claim("c:1"), IfBusy::leave});
  CHECK(scene.queue() == Words{"p:2", "b:1"});
  CHECK(std::abs(scene.deadline_in("b:1") - 320000) <= 5000);
}

TEST_CASE("behind Redisson's waiters, the first two of ours ask when the time of their head is over") {
  FairScene scene;
  auto p1 = scene.peer("p:1"), p2 = scene.peer("p:2");
  scene.ask("a:1");
  p1.try_queued();
  p2.try_queued();
  for (const char* owner : {"b:1", "c:1"}) {
    const auto retry = busy(scene.ask(FairLock{claim(owner, 3600s)})).retry_after;
    REQUIRE(retry);
    CHECK(std::abs(retry->count() - scene.deadline_in("p:1")) <= 5000);
  }
  CHECK_FALSE(busy(scene.ask(FairLock{claim("d:1", 3600s)})).retry_after);
  CHECK_FALSE(busy(scene.ask(FairLock{claim("e:1", 3600s), IfBusy::leave})).retry_after);

  scene.server.cli({"ZADD", kDeadlines, "XX", "1", "p:1", "2", "p:2"});
  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK_FALSE(busy(scene.ask("c:1")).retry_after);
}

TEST_CASE("a queue that was repaired by a client outside it still expires") {
  FairScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  scene.server.cli({"RPUSH", kQueue, "ghost:1"});
  scene.ask(FairLock{claim("d:1"), IfBusy::leave});
  CHECK(scene.queue() == Words{"b:1", "c:1"});
  CHECK(scene.server.pttl(kQueue) > 86400000);
  CHECK(scene.server.pttl(kDeadlines) > 86400000);
}

TEST_CASE("a waiter that asks during a repair keeps its arrival time") {
  FairScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  const auto arrival = [&] { return split(scene.server.cli({"HGET", kWaiters, "b:1"}), ' ').at(1); };
  const std::string before = arrival();
  scene.server.cli({"RPUSH", kQueue, "ghost:1"});
  CHECK(busy(scene.ask("b:1")).waiters == 1);
  CHECK(arrival() == before);
}

TEST_CASE("a queue with nothing to mend is not read as a whole") {
  FairScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  scene.server.cli({"CONFIG", "RESETSTAT"});
  CHECK(busy(scene.ask("b:1")).position == 1);
  CHECK(busy(scene.ask("c:1")).position == 2);
  scene.ask(FairLock{claim("d:1"), IfBusy::leave});
  const std::string commands = scene.server.cli({"INFO", "commandstats"});
  CHECK(contains(commands, "cmdstat_llen"));
  CHECK_FALSE(contains(commands, "cmdstat_hgetall"));
}

// --- properties --------------------------------------------------------------------------------------

namespace {

/// Checks that both keys have the same members, none twice, and that deadlines are whole numbers.
void check_agreement(FairScene& scene) {
  Words queue = scene.queue();
  Words members = scene.members();
  std::sort(queue.begin(), queue.end());
  std::sort(members.begin(), members.end());
  CHECK(joined(queue, " ") == joined(members, " "));
  for (const std::string& line : scene.lines({"ZRANGE", kDeadlines, "0", "-1", "WITHSCORES"}))
    CHECK_FALSE(contains(line, "."));
}

std::string name_of(int who) { return (who % 2 == 0 ? "ours:" : "peer:") + std::to_string(who); }

}  // namespace

TEST_CASE("in any order of both clients' calls, the lock goes to the first in the queue") {
  FairScene scene;
  std::mt19937 random{42};
  std::vector<std::string> line;  // the expected order
  std::string holder;
  for (int step = 0; step < 1500; ++step) {
    const int who = static_cast<int>(random() % 8);
    const std::string owner = name_of(who);
    CAPTURE(step);
    CAPTURE(owner);
    auto peer = scene.peer(owner);
    const bool ours = who % 2 == 0;
    const auto place = std::find(line.begin(), line.end(), owner);

    if (owner == holder) {
      if (ours) CHECK(scene.release(owner).how == How::yes);
      if (!ours) CHECK(peer.unlock());
      holder.clear();
    } else if (place != line.end() && random() % 5 == 0) {
      if (ours) scene.undo(owner);
      if (!ours) peer.fail();
      line.erase(place);
    } else {
      const bool first = holder.empty() && (line.empty() || line.front() == owner);
      const bool got = ours ? is_held(scene.ask(FairLock{claim(owner, 600s)})) : peer.try_queued();
      CHECK(got == first);
      if (place == line.end() && !got) line.push_back(owner);
      if (got) holder = owner;
      if (got && place != line.end()) line.erase(place);
    }
    REQUIRE(scene.queue() == line);
    check_agreement(scene);
  }
}

TEST_CASE("deaths, tiny waits, wrong clocks and vandals never block the queue or let two in") {
  FairScene scene;
  std::mt19937 random{7};
  for (int step = 0; step < 1500; ++step) {
    const int who = static_cast<int>(random() % 8);
    const std::string owner = name_of(who);
    CAPTURE(step);
    FairPeer peer{scene.redis, "deploy", owner, random() % 2 == 0 ? 10 : 300000,
                  random() % 4 == 0 ? 60000 : 0};
    const FairLock lock{claim(owner, 9ms)};
    const std::string held_by = scene.server.cli({"HKEYS", "deploy"});

    const auto action = random() % 16;
    bool got = false;
    if (who % 2 == 1) {
      if (action < 10)
        got = peer.try_queued();
      else if (action < 14)
        peer.unlock();
      else
        peer.fail();
    } else if (action < 10) {
      got = is_held(scene.ask(lock));
      check_agreement(scene);
    } else if (action < 13) {
      scene.release(owner);
    } else if (action < 14) {
      scene.undo(owner);
    } else if (action < 15) {
      scene.server.cli({"LPOP", kQueue});
    } else {
      scene.server.cli({"ZREM", kDeadlines, name_of(static_cast<int>(random() % 8))});
    }
    if (got && !held_by.empty()) CHECK((held_by == owner || scene.server.cli({"HKEYS", "deploy"}) == owner));
  }
  scene.server.del("deploy");
  scene.server.cli({"ZADD", kDeadlines, "XX", "1", "peer:1", "1", "peer:3", "1", "peer:5", "1", "peer:7"});
  CHECK(eventually([&] { return is_held(scene.ask("late:1")); }, 20s));
  check_agreement(scene);
}
