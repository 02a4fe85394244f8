#include "sync/kinds/fair.h"

#include <doctest/doctest.h>

#include "support/contains.h"
#include "support/fair_scene.h"
#include "support/redis_server.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;
using How = Released::How;

// --- meaning ---------------------------------------------------------------------------------------

TEST_CASE("a fair lock stands under Redisson's keys, and each waiter has a channel of its own") {
  const FairLock lock{claim("me:1")};

  CHECK(lock.ask().keys == std::vector<std::string>{"deploy", kQueue, kDeadlines, kWaiters});
  CHECK(lock.channels() == std::vector{Channel{kChannel + "me:1"}});
  CHECK(lock.takes_place());
  const Call release = lock.release({});
  CHECK(std::vector(release.keys.begin(), release.keys.end() - 5) == lock.ask().keys);
  CHECK(lock.renew().keys == std::vector<std::string>{"deploy"});
}

TEST_CASE("a waiter gives a sign of life once per renewal, and counts as dead after two") {
  const FairLock lock{claim("me:1", 30s)};
  CHECK(lock.poll_every() == 10s);
  CHECK(lock.ask().args[2] == "20000");
}

TEST_CASE("a try that does not wait does not queue") {
  const FairLock lock{claim("me:1"), IfBusy::leave};
  CHECK(lock.ask().args[2] == "0");
  CHECK_FALSE(lock.takes_place());
}

TEST_CASE("a busy fair lock tells the place and the length of the queue") {
  const FairLock lock{claim("me:1")};
  const auto answer = [&](std::int64_t retry, std::int64_t pttl, std::int64_t place) {
    return busy(
        lock.read(Reply{{Reply{std::string{"busy"}}, Reply{retry}, Reply{pttl}, Reply{place}, Reply{5}}}));
  };
  CHECK(answer(-1, 900, 3).position == 3);
  CHECK(answer(-1, 900, 3).waiters == 5);
  CHECK_FALSE(answer(-1, 900, 3).retry_after);
  CHECK_FALSE(answer(-1, 900, 0).position);
  CHECK(answer(900, 900, 1).retry_after == 900ms);
  CHECK(answer(25000, 25000, 1).retry_after == 2s);
  CHECK(answer(-1, -1, 1).no_ttl);
}

TEST_CASE("a key of the queue that holds something else is named") {
  const FairLock lock{claim("me:1")};
  const AcquireAnswer answer =
      lock.read(Reply{{Reply{std::string{"foreign"}}, Reply{std::string{"set"}}, Reply{kQueue}}});
  CHECK(contains(std::get<Refused>(answer).text, kQueue));
}

// --- server ----------------------------------------------------------------------------------------

TEST_CASE("a free fair lock is taken without a queue") {
  FairScene scene;
  CHECK(is_held(scene.ask("a:1")));
  CHECK(contents(scene.redis) == "deploy (ends) hash ['a:1', '1']");
  CHECK(scene.release("a:1").how == How::yes);
  CHECK(contents(scene.redis).empty());
}

TEST_CASE("waiters get a fair lock in the order of arrival, not of later questions") {
  FairScene scene;
  scene.ask("a:1");
  CHECK(busy(scene.ask("b:1")).position == 1);
  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(busy(scene.ask("b:1")).waiters == 2);

  scene.release("a:1");
  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(busy(scene.ask("d:1")).position == 3);
  CHECK(is_held(scene.ask("b:1")));
  scene.release("b:1");
  CHECK(is_held(scene.ask("c:1")));
  scene.release("c:1");
  CHECK(is_held(scene.ask("d:1")));
  scene.release("d:1");
  CHECK(contents(scene.redis).empty());
}

TEST_CASE("asking and giving back twice changes nothing") {
  FairScene scene;
  const FairLock holder{claim("a:1")};
  const FairLock waiter{claim("b:1")};
  scene.redis.twice(holder.ask());
  scene.redis.twice(waiter.ask());
  CHECK(scene.server.cli({"HGET", "deploy", "a:1"}) == "1");
  CHECK(scene.queue() == Words{"b:1"});

  scene.redis.twice(*waiter.undo(Wake::waiters));
  CHECK(contents(scene.redis) == "deploy (ends) hash ['a:1', '1']");
  const auto [first, second] = scene.redis.twice(holder.release({}));
  CHECK(released(holder.read_release(first)).how == How::yes);
  CHECK(released(holder.read_release(second)).how == How::not_ours);
  CHECK(contents(scene.redis).empty());
}

TEST_CASE("a release undoes an acquire with a lost answer, and tells the next waiter") {
  FairScene scene;
  RespClient next{scene.server.where()};
  next.ask({"SUBSCRIBE", kChannel + "b:1"});
  scene.ask("a:1");
  scene.ask("b:1");

  scene.undo("a:1");
  CHECK(next.receive() == "message\n" + kChannel + "b:1\n0");
  CHECK(is_held(scene.ask("b:1")));
}

TEST_CASE("a head that gives up while the lock is free passes on that it was told") {
  FairScene scene;
  RespClient next{scene.server.where()};
  next.ask({"SUBSCRIBE", kChannel + "c:1"});
  scene.ask("a:1");
  scene.ask("b:1");
  scene.ask("c:1");
  scene.release("a:1");

  scene.undo("b:1");
  CHECK(next.receive() == "message\n" + kChannel + "c:1\n0");
}

TEST_CASE("a release wakes only the head of the queue") {
  FairScene scene;
  RespClient head{scene.server.where()};
  RespClient second{scene.server.where()};
  head.ask({"SUBSCRIBE", kChannel + "b:1"});
  second.ask({"SUBSCRIBE", kChannel + "c:1"});
  scene.ask("a:1");
  scene.ask("b:1");
  scene.ask("c:1");

  scene.release("a:1");
  CHECK(head.receive() == "message\n" + kChannel + "b:1\n0");
  CHECK_FALSE(second.receive_within(50ms));
}

TEST_CASE("a new head is told so, after the old one acquired, gave up or died") {
  FairScene scene;
  Listener first{scene.server, Channel{kChannel + "b:1"}};
  Listener next{scene.server, Channel{kChannel + "c:1"}};
  scene.ask("a:1");
  for (const char* owner : {"b:1", "c:1"}) scene.ask(owner);
  SUBCASE("took the lock") {
    scene.release("a:1");
    CHECK(is_held(scene.ask("b:1")));
  }
  SUBCASE("gave up") { scene.undo("b:1"); }
  SUBCASE("died") {
    scene.server.cli({"HSET", kWaiters, "b:1", "1 1"});
    scene.server.cli({"ZADD", kDeadlines, "1", "b:1"});
    scene.ask("d:1");
  }
  SUBCASE("died, and another took the lock once more") {
    scene.server.cli({"HSET", kWaiters, "b:1", "1 1"});
    scene.server.cli({"ZADD", kDeadlines, "1", "b:1"});
    CHECK(is_held(scene.ask("a:1")));
  }
  const std::string told = next.heard();
  CHECK(told.starts_with("1 "));
  CHECK(std::stoll(told.substr(2)) > 25000);
  CHECK(std::stoll(told.substr(2)) <= 30000);
  CHECK(next.silence());
}

TEST_CASE("a waiter that gives up behind the head moves no head, and no waiter is told") {
  FairScene scene;
  Listener head{scene.server, Channel{kChannel + "b:1"}};
  scene.ask("a:1");
  for (const char* owner : {"b:1", "c:1"}) scene.ask(owner);
  scene.undo("c:1");
  CHECK(head.silence());
}

TEST_CASE("a Redisson waiter that becomes the head gets only messages that it knows") {
  FairScene scene;
  FairPeer java = scene.peer("java:1");
  Listener next{scene.server, Channel{kChannel + "java:1"}};
  scene.ask("a:1");
  scene.ask("b:1");
  CHECK_FALSE(java.try_queued());
  SUBCASE("took the lock") {
    Listener first{scene.server, Channel{kChannel + "b:1"}};
    scene.release("a:1");
    CHECK(is_held(scene.ask("b:1")));
  }
  SUBCASE("gave up") { scene.undo("b:1"); }
  CHECK(scene.queue() == Words{"java:1"});
  CHECK(next.silence());
}

TEST_CASE("a new head asks when the holder's lease ends") {
  const FairLock lock{claim("b:1", 300s)};
  Busy second{.position = 2};
  const Line::Notice heard = lock.read_notice({Channel{kChannel + "b:1"}, "1 1500"}, second);
  CHECK_FALSE(heard.ask_after);
  Line::move_up(second, heard, TimePoint{});
  CHECK(second.position == 1);
  CHECK(second.retry_after == 1500ms);
  CHECK(lock.read_notice({Channel{kChannel + "b:1"}, "0"}, second).ask_after == 0ms);
  CHECK(lock.read_notice({Channel{kChannel + "b:1"}, "anything else"}, Busy{}).ask_after == 0ms);
}

TEST_CASE("only the head waits for the end of the holder's lease") {
  FairScene scene;
  scene.ask("a:1");
  scene.server.cli({"PEXPIRE", "deploy", "700"});
  CHECK(busy(scene.ask("b:1")).retry_after <= 700ms);
  CHECK_FALSE(busy(scene.ask("c:1")).retry_after);
}

TEST_CASE("a try that does not wait respects the queue and leaves no trace") {
  FairScene scene;
  const FairLock attempt{claim("x:1"), IfBusy::leave};
  scene.ask("a:1");
  scene.ask("b:1");
  scene.release("a:1");
  const std::string before = contents(scene.redis);

  CHECK_FALSE(busy(scene.ask(attempt)).position);
  CHECK(contents(scene.redis) == before);
  scene.undo("b:1");
  CHECK(is_held(scene.ask(attempt)));
}

TEST_CASE("with a longer wait timeout of Redisson our place outlasts the places ahead of us") {
  FairScene scene;
  const FairLock ours{claim("b:1"), IfBusy::place, Hold::first, 1h};
  auto first = scene.peer("p:1", 3600000);
  auto last = scene.peer("p:2", 3600000);
  scene.ask("a:1");
  first.try_queued();
  scene.ask(ours);
  CHECK(std::abs(scene.deadline_in("b:1") - 3620000) <= 5000);
  last.try_queued();
  scene.release("a:1");
  REQUIRE(first.try_queued());
  first.unlock();
  CHECK(scene.queue() == Words{"b:1", "p:2"});
  CHECK(is_held(scene.ask(ours)));
}

TEST_CASE("a waiter says that it lives within the wait timeout, and is forgotten after it") {
  FairScene scene;
  const FairLock hasty{claim("b:1"), IfBusy::place, Hold::first, 3s};
  CHECK(hasty.poll_every() <= 1500ms);
  scene.ask("a:1");
  scene.ask(hasty);
  CHECK(scene.deadline_in("b:1") <= 4000);
}

TEST_CASE("a dead waiter is dropped wherever it stands, and the others keep their order") {
  FairScene scene;
  scene.ask("a:1");
  scene.ask(FairLock{claim("dead:1", 3s)});
  scene.ask("b:1");
  scene.ask(FairLock{claim("dead:2", 3s)});
  scene.ask("c:1");
  scene.release("a:1");

  const AcquireAnswer early = scene.ask("b:1");
  CHECK(busy(early).retry_after <= 2s);
  CHECK(eventually([&] { return is_held(scene.ask("b:1")); }, 20s));
  const auto only_c = [&] {
    scene.ask("c:1");
    return scene.queue() == Words{"c:1"};
  };
  CHECK(eventually(only_c, 20s));
  CHECK(scene.members() == Words{"c:1"});
  CHECK(scene.lines({"HKEYS", kWaiters}) == Words{"c:1"});
}

TEST_CASE("when all of ours have died behind Redisson's, their places end with them") {
  FairScene scene;
  auto p1 = scene.peer("p:1");
  scene.ask("a:1");
  p1.try_queued();
  scene.ask(FairLock{claim("dead:1", 60ms)});
  scene.ask(FairLock{claim("dead:2", 60ms)});
  p1.fail();
  scene.release("a:1");
  CHECK(eventually([&] { return is_held(scene.ask("late:1")); }, 20s));
}

TEST_CASE("an acquire that finds the lock free for another waiter has that waiter told once more") {
  FairScene scene;
  RespClient head{scene.server.where()};
  scene.ask("a:1");
  scene.ask("b:1");
  scene.ask("c:1");
  scene.server.del("deploy");
  head.ask({"SUBSCRIBE", kChannel + "b:1"});

  CHECK(busy(scene.ask("c:1")).retry_after > 15s);
  CHECK(head.receive() == "message\n" + kChannel + "b:1\n0");
}

TEST_CASE("a head that does not listen has two seconds, and the next waiter is told to look then") {
  FairScene scene;
  RespClient next{scene.server.where()};
  next.ask({"SUBSCRIBE", kChannel + "c:1"});
  scene.ask("a:1");
  for (const char* owner : {"b:1", "c:1", "d:1"}) scene.ask(owner);
  scene.release("a:1");

  CHECK(next.receive() == "message\n" + kChannel + "c:1\n0");
  const std::string life = scene.server.cli({"HGET", kWaiters, "b:1"});
  CHECK(std::stoll(life) <= scene.now() + 3000);  // now() is in whole seconds
  const Busy answer = busy(scene.ask("c:1"));
  CHECK(answer.retry_after <= 2s);
  CHECK_FALSE(next.receive_within(50ms));  // else the waiter would wake itself again and again for 2 s
  CHECK(is_held(scene.ask("b:1")));
}

TEST_CASE("in a cluster a head that does not hear has two seconds, too") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  FairScene scene;
  Claim holder = claim("a:1");
  holder.pub_sub = PubSub::sharded_too;
  const FairLock lock{holder};
  scene.ask(lock);
  scene.ask("b:1");
  SUBCASE("nobody listens") {
    scene.Scene::release(lock);
    CHECK(scene.deadline_in("b:1") <= 3000);  // now() is in whole seconds
  }
  SUBCASE("it listens by sharded messages alone") {
    Listener head{scene.server, Channel{kChannel + "b:1"}, /*sharded=*/true};
    scene.Scene::release(lock);
    CHECK(scene.deadline_in("b:1") > 15000);
  }
}

TEST_CASE("a dead waiter is known as rlock's for as long as its place stands, though the clock is set back") {
  FairScene scene;
  Listener next{scene.server, Channel{kChannel + "c:1"}};
  scene.ask("a:1");
  scene.ask("b:1");
  // An hour later all keys of b have ended except its place, and the clock is set back by an hour. A place
  // that nothing marks as rlock's would be kept for that hour.
  CHECK(scene.server.pttl(kWaiters) >= scene.server.pttl(kQueue) - 1000);
  scene.server.cli({"ZADD", kDeadlines, std::to_string(scene.now() + 3600000), "b:1"});
  scene.server.cli({"HSET", kWaiters, "b:1", std::to_string(scene.now() + 3600000) + " 1"});
  scene.release("a:1");
  CHECK(busy(scene.ask("c:1")).retry_after <= 2s);
}

TEST_CASE("a head that hears keeps its whole life") {
  FairScene scene;
  RespClient head{scene.server.where()};
  head.ask({"SUBSCRIBE", kChannel + "b:1"});
  scene.ask("a:1");
  scene.ask("b:1");
  scene.ask("c:1");
  scene.release("a:1");
  CHECK(busy(scene.ask("c:1")).retry_after > 15s);
}

TEST_CASE("in a cluster the head is told by both kinds of messages") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  FairScene scene;
  Listener head{scene.server, Channel{kChannel + "b:1"}, /*sharded=*/true};
  Claim holder = claim("a:1");
  holder.pub_sub = PubSub::sharded_too;
  const FairLock lock{holder};
  scene.ask(lock);
  scene.ask("b:1");
  scene.Scene::release(lock);
  CHECK(head.heard() == "0");
}

TEST_CASE("the keys of the queue stay for a day longer than the last place in it") {
  FairScene scene;
  scene.ask("a:1");
  scene.ask(FairLock{claim("b:1", 600s)});  // counts as dead after 400 s
  for (const auto& key : {kQueue, kDeadlines, kWaiters}) {
    CAPTURE(key);
    CHECK(scene.server.pttl(key) > 86400000 + 390000);
    CHECK(scene.server.pttl(key) <= 86400000 + 400000);
  }
}

TEST_CASE("min-hold tells the head how long it still lasts") {
  FairScene scene;
  RespClient head{scene.server.where()};
  head.ask({"SUBSCRIBE", kChannel + "b:1"});
  const FairLock lock{claim("a:1")};
  const auto since = std::get<Held>(scene.ask(lock)).server_time;
  scene.ask("b:1");

  CHECK(released(lock.read_release(scene.redis.run(lock.release({.keep_until = since + 5s})))).how ==
        How::kept);
  CHECK(head.receive() == "message\n" + kChannel + "b:1\n0");
  CHECK(scene.server.pttl("deploy") <= 5000);
}

TEST_CASE("re-entry into a fair lock counts, and its last release wakes the head") {
  FairScene scene;
  RespClient head{scene.server.where()};
  head.ask({"SUBSCRIBE", kChannel + "b:1"});
  const FairLock outer{claim("a:1")};
  const FairLock inner{claim("a:1"), IfBusy::place, Hold::inner};
  scene.ask(outer);
  CHECK(is_held(scene.ask(inner)));
  scene.ask("b:1");

  CHECK(released(inner.read_release(scene.redis.run(inner.release({})))).how == How::still_held);
  CHECK_FALSE(head.receive_within(50ms));
  CHECK(scene.release("a:1").how == How::yes);
  CHECK(head.receive() == "message\n" + kChannel + "b:1\n0");
}

TEST_CASE("with an ACL made for Redisson fair locks are as fair") {
  FairScene scene;
  scene.redis.run(
      command({"ACL", "SETUSER", "java", "on", "nopass", "~deploy", "~redisson_lock_queue:{deploy}",
               "~redisson_lock_timeout:{deploy}", "~redisson_unlock_latch:{deploy}:*", "&redisson_*", "+@all",
               "-@admin", "-@dangerous"}));
  scene.redis.run(command({"AUTH", "java", "x"}));

  CHECK(is_held(scene.ask("a:1")));
  CHECK(busy(scene.ask("b:1")).position == 1);
  CHECK(scene.release("a:1").unannounced.empty());
  CHECK(is_held(scene.ask("b:1")));
}

TEST_CASE("a key that is no fair lock is refused and left unchanged") {
  FairScene scene;
  const Words others[] = {{"SET", "deploy", "7"},
                          {"HSET", "deploy", "mode", "read", "you:1", "1"},
                          {"SET", kQueue, "x"},
                          {"SET", kDeadlines, "x"},
                          {"SET", kWaiters, "x"}};
  for (const Words& other : others) {
    CAPTURE(joined(other, " "));
    scene.server.cli({"FLUSHALL"});
    scene.server.cli(other);
    const std::string before = contents(scene.redis);

    const AcquireAnswer answer = scene.ask("a:1");
    REQUIRE(std::holds_alternative<Refused>(answer));
    CHECK(contains(std::get<Refused>(answer).text, other[1]));
    scene.undo("a:1");
    CHECK(contents(scene.redis) == before);
  }
}

TEST_CASE("a release succeeds when the queue cannot be told") {
  FairScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  scene.server.cli({"SET", kDeadlines, "x"});
  const Released released = scene.release("a:1");
  CHECK(released.how == How::yes);
  CHECK(contains(released.unannounced, kDeadlines));
  CHECK_FALSE(scene.server.has("deploy"));
}
