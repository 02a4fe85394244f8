#include "sync/fair.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <random>

#include "base/text.h"
#include "support/direct.h"
#include "support/eventually.h"
#include "support/fair_peer.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;
using How = Released::How;

namespace {

const std::string kQueue = "redisson_lock_queue:{deploy}";
const std::string kDeadlines = "redisson_lock_timeout:{deploy}";
const std::string kWaiters = "redisson_unlock_latch:{deploy}:waiters";
const std::string kChannel = "redisson_lock__channel:{deploy}:";

Claim claim(const std::string& owner, std::chrono::milliseconds lease = 30s) {
  return {.name = LockName{"deploy"}, .owner = Owner{owner}, .lease = lease};
}

bool is_held(const Attempt& attempt) { return std::holds_alternative<Held>(attempt); }
const Busy& busy(const Attempt& attempt) {
  REQUIRE(std::holds_alternative<Busy>(attempt));
  return std::get<Busy>(attempt);
}

/// A server, and what is asked of it.
struct Scene {
  RedisServer server{};
  Direct redis{server};

  Attempt ask(const FairLock& lock) { return lock.read(redis.run(lock.ask())); }
  Attempt ask(const std::string& owner) { return ask(FairLock{claim(owner)}); }
  Released release(const std::string& owner) {
    const FairLock lock{claim(owner)};
    return lock.read_release(redis.run(lock.release({})));
  }
  void give_back(const std::string& owner) { redis.run(*FairLock{claim(owner)}.give_back()); }
  FairPeer peer(const std::string& owner, long long wait = 300000) { return {redis, "deploy", owner, wait}; }

  Words queue() { return lines({"LRANGE", kQueue, "0", "-1"}); }
  Words members() { return lines({"ZRANGE", kDeadlines, "0", "-1"}); }
  long long now() { return std::stoll(lines({"TIME"}).front()) * 1000; }
  long long deadline_in(const std::string& owner) {
    return std::stoll(server.cli({"ZSCORE", kDeadlines, owner})) - now();
  }
  Words lines(const Words& command) {
    const std::string text = server.cli(command);
    return text.empty() ? Words{} : split(text, '\n');
  }
};

}  // namespace

// --- meaning ---------------------------------------------------------------------------------------

TEST_CASE("a fair lock stands under Redisson's keys, and each waiter has a channel of its own") {
  const FairLock lock{claim("me:1")};

  CHECK(lock.ask().keys == std::vector<std::string>{"deploy", kQueue, kDeadlines, kWaiters});
  CHECK(lock.channels() == std::vector{Channel{kChannel + "me:1"}});
  CHECK(lock.queues());
  CHECK(lock.release({}).keys == lock.ask().keys);
  CHECK(lock.renew().keys == std::vector<std::string>{"deploy"});
}

TEST_CASE("who waits says that it lives once per renewal, and is dead after two") {
  const FairLock lock{claim("me:1", 30s)};
  CHECK(lock.poll_every() == 10s);
  CHECK(lock.ask().args[2] == "20000");
}

TEST_CASE("a try that does not wait does not queue") {
  const FairLock lock{claim("me:1"), FairLock::Turn::leave};
  CHECK(lock.ask().args[2] == "0");
  CHECK(!lock.queues());
}

TEST_CASE("a busy fair lock tells the place and the length of the queue") {
  const FairLock lock{claim("me:1")};
  const auto answer = [&](std::int64_t retry, std::int64_t pttl, std::int64_t place) {
    return busy(lock.read(Reply{{Reply{0}, Reply{retry}, Reply{pttl}, Reply{place}, Reply{5}}}));
  };
  CHECK(answer(-1, 900, 3).position == 3);
  CHECK(answer(-1, 900, 3).queue == 5);
  CHECK(!answer(-1, 900, 3).retry_after);
  CHECK(!answer(-1, 900, 0).position);
  CHECK(answer(900, 900, 1).retry_after == 900ms);
  CHECK(answer(25000, 25000, 1).retry_after == 2s);
  CHECK(answer(-1, -1, 1).no_ttl);
}

TEST_CASE("a key of the queue that holds something else is named") {
  const FairLock lock{claim("me:1")};
  const Attempt attempt = lock.read(Reply{{Reply{-1}, Reply{std::string{"set"}}, Reply{kQueue}}});
  CHECK(std::get<Refused>(attempt).text.find(kQueue) != std::string::npos);
}

// --- server ----------------------------------------------------------------------------------------

TEST_CASE("a free fair lock is taken without a queue") {
  Scene scene;
  CHECK(is_held(scene.ask("a:1")));
  CHECK(contents(scene.redis) == "deploy (ends) hash ['a:1', '1']");
  CHECK(scene.release("a:1").how == How::yes);
  CHECK(contents(scene.redis).empty());
}

TEST_CASE("waiters take a fair lock in the order in which they asked, whoever asks first afterwards") {
  Scene scene;
  scene.ask("a:1");
  CHECK(busy(scene.ask("b:1")).position == 1);
  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(busy(scene.ask("b:1")).queue == 2);

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
  Scene scene;
  const FairLock holder{claim("a:1")};
  const FairLock waiter{claim("b:1")};
  scene.redis.twice(holder.ask());
  scene.redis.twice(waiter.ask());
  CHECK(scene.server.cli({"HGET", "deploy", "a:1"}) == "1");
  CHECK(scene.queue() == Words{"b:1"});

  scene.redis.twice(*waiter.give_back());
  CHECK(contents(scene.redis) == "deploy (ends) hash ['a:1', '1']");
  const auto [first, second] = scene.redis.twice(holder.release({}));
  CHECK(holder.read_release(first).how == How::yes);
  CHECK(holder.read_release(second).how == How::was_not_ours);
  CHECK(contents(scene.redis).empty());
}

TEST_CASE("giving back undoes an acquire whose answer was lost, and tells the next") {
  Scene scene;
  RespClient next{scene.server.where()};
  next.ask({"SUBSCRIBE", kChannel + "b:1"});
  scene.ask("a:1");
  scene.ask("b:1");

  scene.give_back("a:1");
  CHECK(next.receive() == "message\n" + kChannel + "b:1\n0");
  CHECK(is_held(scene.ask("b:1")));
}

TEST_CASE("a head that gives up while the lock is free passes on that it was told") {
  Scene scene;
  RespClient next{scene.server.where()};
  next.ask({"SUBSCRIBE", kChannel + "c:1"});
  scene.ask("a:1");
  scene.ask("b:1");
  scene.ask("c:1");
  scene.release("a:1");

  scene.give_back("b:1");
  CHECK(next.receive() == "message\n" + kChannel + "c:1\n0");
}

TEST_CASE("a release wakes the head of the queue and nobody else") {
  Scene scene;
  RespClient head{scene.server.where()};
  RespClient second{scene.server.where()};
  head.ask({"SUBSCRIBE", kChannel + "b:1"});
  second.ask({"SUBSCRIBE", kChannel + "c:1"});
  scene.ask("a:1");
  scene.ask("b:1");
  scene.ask("c:1");

  scene.release("a:1");
  CHECK(head.receive() == "message\n" + kChannel + "b:1\n0");
  CHECK(!second.receive_within(50ms));
}

TEST_CASE("only the head waits for the end of the holder's lease") {
  Scene scene;
  scene.ask("a:1");
  scene.server.cli({"PEXPIRE", "deploy", "700"});
  CHECK(busy(scene.ask("b:1")).retry_after <= 700ms);
  CHECK(!busy(scene.ask("c:1")).retry_after);
}

TEST_CASE("a try that does not wait respects the queue and leaves no trace") {
  Scene scene;
  const FairLock attempt{claim("x:1"), FairLock::Turn::leave};
  scene.ask("a:1");
  scene.ask("b:1");
  scene.release("a:1");
  const std::string before = contents(scene.redis);

  CHECK(!busy(scene.ask(attempt)).position);
  CHECK(contents(scene.redis) == before);
  scene.give_back("b:1");
  CHECK(is_held(scene.ask(attempt)));
}

TEST_CASE("a dead waiter is dropped wherever it stands, and the others keep their order") {
  Scene scene;
  scene.ask("a:1");
  scene.ask(FairLock{claim("dead:1", 3s)});
  scene.ask("b:1");
  scene.ask(FairLock{claim("dead:2", 3s)});
  scene.ask("c:1");
  scene.release("a:1");

  const Attempt early = scene.ask("b:1");
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
  Scene scene;
  auto p1 = scene.peer("p:1");
  scene.ask("a:1");
  p1.try_queued();
  scene.ask(FairLock{claim("dead:1", 60ms)});
  scene.ask(FairLock{claim("dead:2", 60ms)});
  p1.fail();
  scene.release("a:1");
  CHECK(eventually([&] { return is_held(scene.ask("late:1")); }, 20s));
}

TEST_CASE("a question that finds the lock free for somebody else has that one told once more") {
  Scene scene;
  RespClient head{scene.server.where()};
  scene.ask("a:1");
  scene.ask("b:1");
  scene.ask("c:1");
  scene.server.del("deploy");
  head.ask({"SUBSCRIBE", kChannel + "b:1"});

  CHECK(busy(scene.ask("c:1")).retry_after > 15s);
  CHECK(head.receive() == "message\n" + kChannel + "b:1\n0");
}

TEST_CASE("a head that does not hear has two seconds, and the next is told to look then") {
  Scene scene;
  RespClient next{scene.server.where()};
  next.ask({"SUBSCRIBE", kChannel + "c:1"});
  scene.ask("a:1");
  for (const char* owner : {"b:1", "c:1", "d:1"}) scene.ask(owner);
  scene.release("a:1");

  CHECK(next.receive() == "message\n" + kChannel + "c:1\n0");
  const Busy answer = busy(scene.ask("c:1"));
  CHECK(answer.retry_after <= 2s);
  CHECK(!next.receive_within(50ms));  // or it would wake itself for two seconds
  CHECK(is_held(scene.ask("b:1")));
}

TEST_CASE("a head that hears keeps its whole life") {
  Scene scene;
  RespClient head{scene.server.where()};
  head.ask({"SUBSCRIBE", kChannel + "b:1"});
  scene.ask("a:1");
  scene.ask("b:1");
  scene.ask("c:1");
  scene.release("a:1");
  CHECK(busy(scene.ask("c:1")).retry_after > 15s);
}

TEST_CASE("min-hold tells the head how long it still lasts") {
  Scene scene;
  RespClient head{scene.server.where()};
  head.ask({"SUBSCRIBE", kChannel + "b:1"});
  const FairLock lock{claim("a:1")};
  const auto since = std::get<Held>(scene.ask(lock)).server_time;
  scene.ask("b:1");

  CHECK(lock.read_release(scene.redis.run(lock.release({.keep_until = since + 5s}))).how == How::kept);
  CHECK(head.receive() == "message\n" + kChannel + "b:1\n0");
  CHECK(scene.server.pttl("deploy") <= 5000);
}

TEST_CASE("re-entry into a fair lock counts, and its last release wakes the head") {
  Scene scene;
  RespClient head{scene.server.where()};
  head.ask({"SUBSCRIBE", kChannel + "b:1"});
  const FairLock outer{claim("a:1")};
  const FairLock inner{claim("a:1"), FairLock::Turn::queue, Lock::Hold::another};
  scene.ask(outer);
  CHECK(is_held(scene.ask(inner)));
  scene.ask("b:1");

  CHECK(inner.read_release(scene.redis.run(inner.release({}))).how == How::still_held);
  CHECK(!head.receive_within(50ms));
  CHECK(scene.release("a:1").how == How::yes);
  CHECK(head.receive() == "message\n" + kChannel + "b:1\n0");
}

TEST_CASE("with an ACL made for Redisson fair locks are as fair") {
  Scene scene;
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

TEST_CASE("what is no fair lock is refused and left as it was") {
  Scene scene;
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

    const Attempt attempt = scene.ask("a:1");
    REQUIRE(std::holds_alternative<Refused>(attempt));
    CHECK(std::get<Refused>(attempt).text.find(other[1]) != std::string::npos);
    scene.give_back("a:1");
    CHECK(contents(scene.redis) == before);
  }
}

TEST_CASE("a release succeeds when the queue cannot be told") {
  Scene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  scene.server.cli({"SET", kDeadlines, "x"});
  const Released released = scene.release("a:1");
  CHECK(released.how == How::yes);
  CHECK(released.unannounced.find(kDeadlines) != std::string::npos);
  CHECK(!scene.server.has("deploy"));
}

// --- the queue that is shared with Redisson ----------------------------------------------------------

TEST_CASE("waiters of both kinds take the lock in the order in which they came") {
  Scene scene;
  auto p1 = scene.peer("p:1"), p2 = scene.peer("p:2"), p3 = scene.peer("p:3");
  scene.ask("a:1");
  CHECK(!p1.try_queued());
  scene.ask("b:1");
  CHECK(!p2.try_queued());
  scene.ask("c:1");
  CHECK(!p3.try_queued());
  CHECK(!p3.try_once());
  const Words turns{"p:1", "b:1", "p:2", "c:1", "p:3"};
  CHECK(scene.queue() == turns);

  scene.release("a:1");
  CHECK(p1.try_queued());
  CHECK(p1.unlock());
  CHECK(!p2.try_queued());
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

TEST_CASE("our deadline outlasts those of Redisson's ahead of us, and is our own life at the head") {
  Scene scene;
  auto p1 = scene.peer("p:1");
  auto p2 = scene.peer("p:2");
  scene.ask("a:1");
  p1.try_queued();
  p2.try_queued();
  scene.ask("b:1");
  CHECK(std::abs(scene.deadline_in("b:1") - 620000) <= 5000);
  scene.ask(FairLock{claim("c:1", 3s)});
  CHECK(scene.server.pttl(kWaiters) > 619000);  // as long as it must be known who of the queue is ours

  scene.release("a:1");
  p1.try_queued();
  CHECK(std::abs(scene.deadline_in("b:1") - 320000) <= 5000);
  p1.unlock();
  p2.try_queued();
  CHECK(std::abs(scene.deadline_in("b:1") - 20000) <= 5000);
}

TEST_CASE("a living waiter that Redisson dropped from the head is the head again") {
  Scene scene;
  auto hasty = scene.peer("p:1", 3600000);  // lets the others be forgotten an hour earlier
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
  CHECK(!last.try_queued());
  CHECK(is_held(scene.ask("b:1")));
  scene.release("b:1");
  CHECK(is_held(scene.ask("c:1")));
}

TEST_CASE("a dead waiter of ours at the head does not hold up Redisson for longer than its life") {
  Scene scene;
  auto p1 = scene.peer("p:1");
  scene.ask("a:1");
  scene.ask(FairLock{claim("dead:1", 3s)});
  p1.try_queued();
  scene.release("a:1");
  CHECK(eventually([&] { return p1.try_queued(); }, 20s));
}

TEST_CASE("a place without a deadline does not block the lock, nor a deadline without a place its owner") {
  Scene scene;
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
    Scene scene;
    scene.ask("a:1");
    for (const char* owner : {"b:1", "c:1", "d:1"}) scene.ask(owner);
    scene.server.del(key);

    CHECK(busy(scene.ask("d:1")).position == 3);
    CHECK(scene.queue() == Words{"b:1", "c:1", "d:1"});
    CHECK(scene.members().size() == 3);
  }
}

// --- the binary --------------------------------------------------------------------------------------

TEST_CASE("rlock run --fair serves in the order of arrival") {
  Scene scene;
  TempDir folder;
  const auto run = [&](const std::string& command) {
    return scene.server.rlock("run", "--fair", "-k", "deploy", "-c", command);
  };
  std::vector<Rlock> crowd;
  output_of({"mkfifo", folder / "gate"});
  crowd.push_back(run("read line < " + folder / "gate"));
  REQUIRE(eventually([&] { return scene.server.has("deploy"); }));
  for (std::size_t i = 0; i < 8; ++i) {
    crowd.push_back(run("echo " + std::to_string(i) + " >> " + folder / "order"));
    REQUIRE(eventually([&] { return scene.queue().size() == i + 1; }));
  }
  write_file(folder / "gate", "go\n");

  for (Rlock& each : crowd) CHECK(each.exit_code() == 0);
  CHECK(read_file(folder / "order") == "0\n1\n2\n3\n4\n5\n6\n7\n");
  CHECK(contents(scene.redis).empty());
}

TEST_CASE("whatever ends a wait in the queue, the place is given back") {
  Scene scene;
  scene.ask("a:1");
  const auto wait_with = [&](const std::string& patience) {
    return scene.server.rlock("run", "--fair", "-k", "deploy", "-w", patience, "--", "true");
  };
  for (int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP}) {
    Rlock waiter = wait_with("forever");
    REQUIRE(eventually([&] { return scene.queue().size() == 1; }));
    waiter.signal(signal);
    waiter.exit_code();
    CHECK(scene.queue().empty());
  }
  Rlock waiter = wait_with("300ms");
  CHECK(eventually([&] { return scene.queue().size() == 1; }));
  CHECK(waiter.exit_code() == 75);
  CHECK(scene.queue().empty());
  CHECK(!scene.server.has(kWaiters));
}

TEST_CASE("a waiter that is killed delays the next by no more than two renewal intervals") {
  Scene scene;
  scene.ask("a:1");
  const auto wait = [&] {
    return scene.server.rlock("run", "--fair", "--lease", "6s", "-k", "deploy", "--", "true");
  };
  Rlock first = wait();
  REQUIRE(eventually([&] { return scene.queue().size() == 1; }));
  Rlock second = wait();
  REQUIRE(eventually([&] { return scene.queue().size() == 2; }));
  first.signal(SIGKILL);
  first.exit_code();

  scene.release("a:1");
  const StopWatch watch;
  CHECK(second.exit_code() == 0);
  CHECK(watch.elapsed() < 4s);
}

// --- properties --------------------------------------------------------------------------------------

namespace {

/// Both keys have the same members, none twice, and deadlines are whole numbers.
void check_agreement(Scene& scene) {
  Words queue = scene.queue();
  Words members = scene.members();
  std::sort(queue.begin(), queue.end());
  std::sort(members.begin(), members.end());
  CHECK(joined(queue, " ") == joined(members, " "));
  for (const std::string& line : scene.lines({"ZRANGE", kDeadlines, "0", "-1", "WITHSCORES"}))
    CHECK(line.find('.') == std::string::npos);
}

std::string name_of(int who) { return (who % 2 == 0 ? "ours:" : "peer:") + std::to_string(who); }

}  // namespace

TEST_CASE("whatever both kinds do in whatever order, the lock goes to who came first") {
  Scene scene;
  std::mt19937 random{42};
  std::vector<std::string> line;  // what we believe
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
      if (ours) scene.give_back(owner);
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
  Scene scene;
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
      scene.give_back(owner);
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
