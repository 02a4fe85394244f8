#include "sync/kinds/read_write.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/scene.h"
#include "sync/kinds/lock.h"

using namespace rlock;
using namespace rlock::test;
using How = Released::How;

namespace {

ReadLock reader(const std::string& owner, Hold hold = Hold::first, Milliseconds lease = Milliseconds{30000}) {
  return ReadLock{claim(owner, lease), hold};
}
WriteLock writer(const std::string& owner, Hold hold = Hold::first,
                 Milliseconds lease = Milliseconds{30000}) {
  return WriteLock{claim(owner, lease), hold};
}

/// Writes the keys of one hold of Redisson's read lock.
void java_reads(Scene& scene, const std::string& owner, const std::string& lease) {
  scene.server.cli({"HSET", "deploy", "mode", "read", owner, "1"});
  scene.server.cli({"SET", "{deploy}:" + owner + ":rwlock_timeout:1", "1", "PX", lease});
  if (scene.server.pttl("deploy") < std::stoll(lease)) scene.server.cli({"PEXPIRE", "deploy", lease});
}

const Channel kReadWriteChannel{"redisson_rwlock:{deploy}"};

/// Removes the holds of this owner by force; if it is empty, the whole lock.
Forced force(Scene& scene, const std::string& owner) {
  const Reply reply =
      scene.redis.run(ReadWriteLock::force(LockName{"deploy"}, Owner{owner}, PubSub::classic));
  return decode_forced(LockName{"deploy"}, "a read/write lock", reply);
}

}  // namespace

TEST_CASE("a read hold is Redisson's field and timeout key, a write hold its :write field") {
  Scene scene;
  scene.ask(reader("a:1"));
  CHECK(scene.all() ==
        "deploy (ends) hash ['mode', 'read', 'a:1', '1']\n{deploy}:a:1:rwlock_timeout:1 (ends) string '1'");
  CHECK(scene.release(reader("a:1")).how == How::yes);
  CHECK(scene.all().empty());
  scene.ask(writer("a:1"));
  CHECK(scene.all() == "deploy (ends) hash ['mode', 'write', 'a:1:write', '1']");
  CHECK(reader("a:1").channels() == std::vector{kReadWriteChannel});
  CHECK(writer("a:1").hold_entry().member == "a:1:write");
}

TEST_CASE("readers share, writers exclude all") {
  Scene scene;
  CHECK(is_held(scene.ask(reader("a:1"))));
  CHECK(is_held(scene.ask(reader("b:1"))));
  CHECK(is_busy(scene.ask(writer("c:1"))));
  CHECK(scene.release(reader("a:1")).how == How::yes);
  CHECK(is_busy(scene.ask(writer("c:1"))));
  CHECK(scene.release(reader("b:1")).how == How::yes);
  CHECK(is_held(scene.ask(writer("c:1"))));
  CHECK(is_busy(scene.ask(reader("a:1"))));
  CHECK(is_busy(scene.ask(writer("b:1"))));
  CHECK(scene.release(writer("b:1")).how == How::not_ours);
  CHECK(scene.release(reader("c:1")).how == How::not_ours);
  CHECK(scene.release(writer("c:1")).how == How::yes);
  CHECK(scene.all().empty());
}

TEST_CASE("the last reader wakes one with 0, a writer wakes all with 1") {
  Scene scene;
  Listener waiter{scene.server, kReadWriteChannel};
  scene.ask(reader("a:1"));
  scene.ask(reader("b:1"));
  scene.release(reader("a:1"));
  CHECK(waiter.silence());
  scene.release(reader("b:1"));
  CHECK(waiter.heard() == "0");
  scene.ask(writer("a:1"));
  scene.release(writer("a:1"));
  CHECK(waiter.heard() == "1");
}

TEST_CASE("a writer may read too and go on reading when it stops writing, which wakes the other readers") {
  Scene scene;
  Listener waiter{scene.server, kReadWriteChannel};
  scene.ask(writer("a:1"));
  CHECK(is_held(scene.ask(reader("a:1"))));
  CHECK(is_busy(scene.ask(reader("b:1"))));

  CHECK(scene.release(writer("a:1")).how == How::yes);
  CHECK(waiter.heard() == "1");
  CHECK(scene.lock() == "deploy (ends) hash ['mode', 'read', 'a:1', '1']");
  CHECK(is_held(scene.ask(reader("b:1"))));
  CHECK(is_busy(scene.ask(writer("c:1"))));
  CHECK(scene.release(reader("b:1")).how == How::yes);
  CHECK(scene.release(reader("a:1")).how == How::yes);
  CHECK(scene.all().empty());
}

TEST_CASE("beside a thousand readers one more may read, but not beside a thousand fields of another hash") {
  for (const std::string mode : {"read", "other"}) {
    CAPTURE(mode);
    Scene scene;
    scene.server.cli({"HSET", "deploy", "mode", mode});
    scene.server.cli(
        {"EVAL", "for i = 1, 1000 do redis.call('hset', KEYS[1], 'r:' .. i, 1) end", "1", "deploy"});
    CHECK(is_held(scene.ask(reader("a:1"))) == (mode == "read"));
  }
}

TEST_CASE("a read hold inside a write hold may be given back first") {
  for (const Hold hold : {Hold::first, Hold::inner}) {
    Scene scene;
    scene.ask(writer("a:1"));
    const ReadLock inner = reader("a:1", hold);
    CHECK(is_held(scene.ask(inner)));
    CHECK(scene.release(inner).how == How::yes);
    CHECK(contains(scene.all(), "['mode', 'write', 'a:1:write', '1']"));
    CHECK(scene.release(writer("a:1")).how == How::yes);
  }
}

TEST_CASE("a reader that wants to write is told that it would wait for itself") {
  Scene scene;
  scene.ask(reader("a:1"));
  for (const Hold hold : {Hold::first, Hold::inner}) {
    const AcquireAnswer answer = scene.ask(writer("a:1", hold));
    REQUIRE(is_refused(answer));
    CHECK(std::get<Refused>(answer).why == Refused::Why::upgrade);
    CHECK(contains(std::get<Refused>(answer).text, "acquire it with -x from the start"));
  }
}

TEST_CASE("a read/write acquire that is sent twice holds once") {
  Scene scene;
  scene.redis.twice(reader("a:1").ask());
  CHECK(scene.server.cli({"HGET", "deploy", "a:1"}) == "1");
  scene.release(reader("a:1"));
  scene.redis.twice(writer("a:1").ask());
  CHECK(scene.server.cli({"HGET", "deploy", "a:1:write"}) == "1");
  CHECK(written(scene.redis.twice(writer("a:1").release({})).second) == "['not_ours']");
  CHECK(scene.all().empty());
}

TEST_CASE("further holds of a reader or a writer are counted once, in and out") {
  Scene scene;
  const auto go_in_and_out = [&](const ReadWriteLock& outer, const ReadWriteLock& inner,
                                 const std::string& field) {
    scene.ask(outer);
    scene.redis.twice(inner.ask());
    CHECK(scene.server.cli({"HGET", "deploy", field}) == "2");
    scene.redis.twice(inner.release({}));
    CHECK(scene.server.cli({"HGET", "deploy", field}) == "1");
    CHECK(scene.release(outer).how == How::yes);
    CHECK_FALSE(scene.server.has("deploy"));
  };
  go_in_and_out(reader("a:1"), reader("a:1", Hold::inner), "a:1");
  go_in_and_out(writer("a:1"), writer("a:1", Hold::inner), "a:1:write");
}

TEST_CASE("the release of an inner hold leaves the outer one, also if the inner one never happened") {
  Scene scene;
  const auto release_twice = [&](const ReadWriteLock& outer, const ReadWriteLock& inner,
                                 const std::string& field) {
    scene.ask(outer);
    scene.undo(inner);
    CHECK(scene.server.cli({"HGET", "deploy", field}) == "1");
    scene.ask(inner);
    scene.undo(inner);
    scene.undo(inner);
    CHECK(scene.server.cli({"HGET", "deploy", field}) == "1");
    scene.release(outer);
  };
  release_twice(reader("a:1"), reader("a:1", Hold::inner), "a:1");
  release_twice(writer("a:1"), writer("a:1", Hold::inner), "a:1:write");
}

TEST_CASE("an outer hold that ends first leaves the inner one") {
  Scene scene;
  const ReadLock inner_read = reader("a:1", Hold::inner);
  scene.ask(reader("a:1"));
  scene.ask(inner_read);
  CHECK(scene.release(reader("a:1")).how == How::still_held);
  CHECK(scene.release(inner_read).how == How::yes);
  const WriteLock inner_write = writer("a:1", Hold::inner);
  scene.ask(writer("a:1"));
  scene.ask(inner_write);
  CHECK(scene.release(writer("a:1")).how == How::still_held);
  CHECK(scene.release(inner_write).how == How::yes);
  CHECK_FALSE(scene.server.has("deploy"));
}

TEST_CASE("the release of an inner hold leaves the outer one a whole lease") {
  Scene scene;
  const auto shorten_and_release = [&](const ReadWriteLock& outer, const ReadWriteLock& inner) {
    scene.ask(outer);
    scene.ask(inner);
    scene.server.cli({"PEXPIRE", "deploy", "1000"});
    CHECK(scene.release(inner).how == How::still_held);
    CHECK(scene.server.pttl("deploy") > 29000);
    scene.release(outer);
  };
  shorten_and_release(reader("a:1"), reader("a:1", Hold::inner));
  shorten_and_release(writer("a:1"), writer("a:1", Hold::inner));
}

TEST_CASE("write re-entry does not add up leases") {
  Scene scene;
  scene.ask(writer("a:1"));
  scene.ask(writer("a:1", Hold::inner));
  CHECK(scene.server.pttl("deploy") <= 30000);
}

TEST_CASE("a reader with a short lease neither ends nor shortens another's hold") {
  Scene scene;
  scene.ask(reader("long:1"));
  scene.ask(reader("brief:1", Hold::first, Milliseconds{1000}));
  CHECK(scene.renew(reader("brief:1", Hold::first, Milliseconds{1000})));
  CHECK(scene.server.pttl("deploy") > 29000);
  REQUIRE(eventually([&] { return !scene.server.has("{deploy}:brief:1:rwlock_timeout:1"); }));
  CHECK(scene.renew(reader("long:1")));
  CHECK(is_busy(scene.ask(writer("c:1"))));
}

TEST_CASE("read holds whose lease has ended do not count when their owner reads again") {
  Scene scene;
  scene.ask(reader("other:1"));
  scene.ask(reader("a:1"));
  scene.ask(reader("a:1", Hold::inner));
  scene.server.del("{deploy}:a:1:rwlock_timeout:1");  // as if its time were over
  CHECK(std::holds_alternative<Refused>(scene.ask(reader("a:1", Hold::inner))));
  CHECK(std::holds_alternative<Held>(scene.ask(reader("a:1"))));
  CHECK(scene.server.cli({"HGET", "deploy", "a:1"}) == "1");
  CHECK(scene.release(reader("a:1")).how == How::yes);
  CHECK_FALSE(scene.server.has("{deploy}:a:1:rwlock_timeout:1"));
  CHECK(scene.server.cli({"HEXISTS", "deploy", "a:1"}) == "0");
}

TEST_CASE("a read hold of Redisson's counts as long as one of its timeout keys is left") {
  Scene scene;
  scene.server.cli({"HSET", "deploy", "mode", "read", "a:1", "3"});
  scene.server.cli({"PEXPIRE", "deploy", "60000"});
  scene.server.cli({"SET", "{deploy}:a:1:rwlock_timeout:2", "1", "PX", "60000"});
  CHECK(std::holds_alternative<Held>(scene.ask(reader("a:1", Hold::inner))));
  CHECK(scene.server.cli({"HGET", "deploy", "a:1"}) == "4");
  CHECK(std::holds_alternative<Held>(scene.ask(reader("a:1"))));
  CHECK(scene.server.pttl("{deploy}:a:1:rwlock_timeout:1") > 59000);
}

TEST_CASE("a reader that died does not keep the lock from writers when the last living reader leaves") {
  Scene scene;
  scene.ask(reader("dead:1", Hold::first, Milliseconds{50}));
  scene.ask(reader("alive:1"));
  REQUIRE(eventually([&] { return !scene.server.has("{deploy}:dead:1:rwlock_timeout:1"); }));
  Listener waiter{scene.server, kReadWriteChannel};

  CHECK(scene.release(reader("alive:1")).how == How::yes);
  CHECK(waiter.heard() == "0");
  CHECK(scene.all().empty());
}

TEST_CASE("without rights to publish a dead reader is still removed, and the reason is reported") {
  Scene scene;
  scene.ask(reader("dead:1", Hold::first, Milliseconds{50}));
  scene.ask(reader("alive:1"));
  REQUIRE(eventually([&] { return !scene.server.has("{deploy}:dead:1:rwlock_timeout:1"); }));
  scene.become("mute", {"~*", "+@all", "resetchannels"});

  const Released released = scene.release(reader("alive:1"));
  CHECK(released.how == How::yes);
  CHECK(contains(released.unannounced, "channel"));
  CHECK(scene.all().empty());
}

TEST_CASE("after the reader with the longest lease has left, the lock lasts as long as the others") {
  Scene scene;
  scene.ask(reader("long:1", Hold::first, Milliseconds{600000}));
  java_reads(scene, "java:1", "5000");
  CHECK(scene.server.pttl("deploy") > 500000);
  CHECK(scene.release(reader("long:1")).how == How::yes);
  CHECK(scene.server.pttl("deploy") <= 5000);
  CHECK(scene.server.pttl("deploy") > 1000);
}

TEST_CASE("the undo of a reader leaves the others the lease that they had") {
  Scene scene;
  const auto long_reader = [] {
    Claim long_claim = claim("a:1", Milliseconds{3'600'000});
    long_claim.owner_returns = true;
    return ReadLock{long_claim, Hold::first};
  };
  scene.ask(reader("b:1", Hold::first, Milliseconds{20000}));
  const ReadLock outlives = long_reader();
  scene.ask(outlives);
  CHECK(scene.server.pttl("deploy") > 3'000'000);
  scene.redis.run(*outlives.undo(Wake::waiters));
  CHECK(scene.server.pttl("deploy") <= 20000);
  CHECK(scene.server.pttl("deploy") > 10000);

  // A reader that is dead goes with the undo.
  scene.server.cli({"DEL", "{deploy}:b:1:rwlock_timeout:1"});
  const ReadLock last = long_reader();
  scene.ask(last);
  scene.redis.run(*last.undo(Wake::waiters));
  CHECK_FALSE(scene.server.has("deploy"));
}

TEST_CASE("rlock's renewal extends a lease that Java's renewal has shortened") {
  Scene scene;
  const ReadLock ours = reader("a:1", Hold::first, Milliseconds{60000});
  scene.ask(ours);
  scene.server.cli({"PEXPIRE", "deploy", "3000"});
  CHECK(scene.renew(ours));
  CHECK(scene.server.pttl("deploy") > 59000);
}

TEST_CASE("renewals never make a read/write lock that is gone, nor renew another's") {
  Scene scene;
  CHECK_FALSE(scene.renew(reader("a:1")));
  CHECK_FALSE(scene.renew(writer("a:1")));
  scene.ask(writer("b:1"));
  CHECK_FALSE(scene.renew(reader("a:1")));
  CHECK_FALSE(scene.renew(writer("a:1")));
  CHECK(scene.all() == "deploy (ends) hash ['mode', 'write', 'b:1:write', '1']");
}

TEST_CASE("--min-hold keeps a read hold and a write hold") {
  Scene scene;
  const auto reads = std::get<Held>(scene.ask(reader("a:1")));
  CHECK(scene.release(reader("a:1"), {.keep_until = reads.server_time + Milliseconds{5000}}).how ==
        How::kept);
  CHECK(scene.server.pttl("deploy") <= 5000);
  CHECK(scene.server.pttl("{deploy}:a:1:rwlock_timeout:1") <= 5000);  // how long other clients count the hold
  CHECK(scene.release(reader("a:1"), {.keep_until = reads.server_time + Milliseconds{60000}}).how ==
        How::kept);
  CHECK(scene.server.pttl("{deploy}:a:1:rwlock_timeout:1") > 59000);
  CHECK(is_held(scene.ask(reader("b:1"))));
  CHECK(is_busy(scene.ask(writer("c:1"))));

  scene.redis.run(command({"FLUSHALL"}));
  const auto writes = std::get<Held>(scene.ask(writer("a:1")));
  CHECK(scene.release(writer("a:1"), {.keep_until = writes.server_time + Milliseconds{5000}}).how ==
        How::kept);
  CHECK(scene.server.pttl("deploy") <= 5000);
  CHECK(is_busy(scene.ask(reader("b:1"))));
}

TEST_CASE("a read hold that --min-hold keeps takes nothing from the lease of another reader") {
  Scene scene;
  const auto reads = std::get<Held>(scene.ask(reader("a:1")));
  scene.ask(reader("b:1"));
  scene.release(reader("a:1"), {.keep_until = reads.server_time + Milliseconds{5000}});
  CHECK(scene.server.pttl("deploy") > 20000);
  scene.release(reader("a:1"), {.keep_until = reads.server_time + Milliseconds{60000}});
  CHECK(scene.server.pttl("deploy") > 50000);
}

TEST_CASE("a write hold that --min-hold keeps takes nothing from the lease of its owner's read hold") {
  Scene scene;
  const auto writes = std::get<Held>(scene.ask(writer("a:1")));
  REQUIRE(is_held(scene.ask(reader("a:1"))));
  CHECK(scene.release(writer("a:1"), {.keep_until = writes.server_time + Milliseconds{5000}}).how ==
        How::kept);
  CHECK(scene.server.pttl("deploy") > 20000);

  scene.redis.run(command({"FLUSHALL"}));
  const auto again = std::get<Held>(scene.ask(writer("a:1")));
  REQUIRE(is_held(scene.ask(reader("a:1"))));
  scene.release(writer("a:1"), {.keep_until = again.server_time + Milliseconds{60000}});
  CHECK(scene.server.pttl("deploy") > 50000);
}

TEST_CASE(
    "beside another reader, the last hold keeps the lock for as long as an earlier release of its owner has demanded") {
  Scene scene;
  const auto reads = std::get<Held>(scene.ask(reader("a:1")));
  const ReadLock inner = reader("a:1", Hold::inner);
  scene.ask(inner);
  scene.ask(reader("b:1"));
  scene.release(reader("a:1"), {.keep_until = reads.server_time + Milliseconds{60000}});
  const Released last = scene.release(inner);
  CHECK(last.how == How::kept);
  CHECK(last.rest > Milliseconds{50000});
}

TEST_CASE("a client that lacks the right to one command leaves no read/write lock without a TTL") {
  for (const char* command : {"pexpire", "hincrby", "hset", "hsetnx", "set"}) {
    CAPTURE(command);
    Scene scene;
    scene.server.cli({"ACL", "SETUSER", "default", std::string{"-"} + command});
    scene.ask(reader("a:1"));
    scene.ask(writer("b:1"));
    CHECK((!scene.server.has("deploy") || scene.server.pttl("deploy") > 0));
  }
}

TEST_CASE("a lock and a read/write lock refuse each other, and the lock names -x") {
  Scene scene;
  const Lock lock{claim("a:1", Milliseconds{30000})};
  scene.ask(reader("b:1"));
  const AcquireAnswer refused = scene.ask(lock);
  CHECK(contains(std::get<Refused>(refused).text, "-x"));
  scene.release(reader("b:1"));
  scene.ask(lock);
  CHECK(is_refused(scene.ask(reader("b:1"))));
  CHECK(is_refused(scene.ask(writer("b:1"))));
}

TEST_CASE("a key that is no read/write lock is refused and left unchanged") {
  const Words others[] = {
      {"SET", "deploy", "token"},
      {"SET", "deploy", "7"},
      {"RPUSH", "deploy", "a"},
      {"SADD", "deploy", "a"},
      {"ZADD", "deploy", "1", "a"},
      {"HSET", "deploy", "a:1", "1"},
      {"HSET", "deploy", "name", "value"},
      {"HSET", "deploy", "mode", "read", "a:1", "x"},
      {"HSET", "deploy", "mode", "write", "a:1:write", "0"},
      {"HSET", "deploy", "mode", "append", "a:1", "1"},
  };
  Scene scene;
  for (const Words& other : others) {
    CAPTURE(joined(other, " "));
    scene.server.del("deploy");
    scene.server.cli(other);
    const std::string before = scene.all();

    CHECK(is_refused(scene.ask(reader("z:1"))));
    CHECK(is_refused(scene.ask(writer("z:1"))));
    CHECK_FALSE(scene.renew(reader("z:1")));
    CHECK_FALSE(scene.renew(writer("z:1")));
    CHECK(scene.release(reader("z:1")).how == How::not_ours);
    CHECK(scene.release(writer("z:1")).how == How::not_ours);
    const Reply forced = scene.redis.run(ReadWriteLock::force(LockName{"deploy"}, Owner{}, PubSub::classic));
    CHECK(decode_forced(LockName{"deploy"}, "a read/write lock", forced).how == Forced::How::refused);
    CHECK(scene.all() == before);
  }
}

TEST_CASE(
    "without rights to publish a read/write lock is still removed by force, and the reason is reported") {
  Scene scene;
  scene.ask(reader("me:1"));
  scene.become("mute", {"~*", "+@all", "-unlink", "resetchannels"});
  const Reply reply = scene.redis.run(ReadWriteLock::force(LockName{"deploy"}, Owner{}, PubSub::classic));
  const Forced forced = decode_forced(LockName{"deploy"}, "a read/write lock", reply);
  CHECK(forced.how == Forced::How::removed);
  CHECK(contains(forced.unannounced, "channel"));
  CHECK_FALSE(scene.server.has("deploy"));
}

TEST_CASE("force removes a read/write lock and wakes with the code of its mode") {
  Scene scene;
  Listener waiter{scene.server, kReadWriteChannel};
  CHECK(force(scene, "").how == Forced::How::nothing_there);
  scene.ask(writer("a:1"));
  CHECK(force(scene, "b:1").other == "a:1");
  CHECK(force(scene, "a:1").how == Forced::How::removed);
  CHECK(waiter.heard() == "1");
  scene.ask(reader("a:1"));
  CHECK(force(scene, "").how == Forced::How::removed);
  CHECK(waiter.heard() == "0");
}

TEST_CASE("force with an owner removes one reader, and the others still read") {
  Scene scene;
  Listener waiter{scene.server, kReadWriteChannel};
  scene.ask(reader("a:1"));
  scene.ask(reader("b:1"));
  CHECK(force(scene, "a:1").how == Forced::How::removed);
  CHECK(scene.server.cli({"HGETALL", "deploy"}) == "mode\nread\nb:1\n1");
  CHECK(force(scene, "a:1").other == "b:1");  // a copy of the request
  CHECK(force(scene, "b:1").how == Forced::How::removed);
  CHECK(waiter.heard() == "0");
  CHECK_FALSE(scene.server.has("deploy"));
}

TEST_CASE("when a reader is removed by force, the lock lasts as long as the other readers that are alive") {
  Scene scene;
  scene.ask(reader("a:1", Hold::first, Milliseconds{3'600'000}));
  java_reads(scene, "b:1", "30000");
  java_reads(scene, "dead:1", "60000");
  scene.server.del("{deploy}:dead:1:rwlock_timeout:1");  // as if its time were over
  CHECK(force(scene, "a:1").how == Forced::How::removed);
  CHECK(scene.server.pttl("deploy") <= 30'000);
  CHECK(scene.server.pttl("deploy") > 20'000);

  Listener waiter{scene.server, kReadWriteChannel};
  scene.ask(reader("a:1"));
  CHECK(force(scene, "b:1").how == Forced::How::removed);
  CHECK(scene.server.has("deploy"));
  CHECK(force(scene, "a:1").how == Forced::How::removed);  // only the dead one would be left
  CHECK_FALSE(scene.server.has("deploy"));
  CHECK(waiter.heard() == "0");
}

TEST_CASE("when a reader is removed by force beside one without an end, the lease stays") {
  Scene scene;
  scene.ask(reader("a:1"));
  java_reads(scene, "b:1", "10000");
  scene.server.cli({"PERSIST", "{deploy}:b:1:rwlock_timeout:1"});
  CHECK(force(scene, "a:1").how == Forced::How::removed);
  CHECK(scene.server.pttl("deploy") > 20'000);
}

TEST_CASE("a read/write lock with braces in its name keeps its timeout keys in its slot") {
  Scene scene;
  const ReadLock lock{
      {.name = LockName{"{team}:deploy"}, .owner = Owner{"a:1"}, .lease = Milliseconds{30000}}};
  scene.ask(lock);
  CHECK(scene.server.has("{team}:deploy:a:1:rwlock_timeout:1"));
  CHECK(scene.release(lock).how == How::yes);
  CHECK(scene.all().empty());
}

TEST_CASE("a release removes dead readers only if it can look at the timeout keys of all") {
  for (const char* holds : {"many", "-1", "0", "3000", "1e9", "inf"}) {
    CAPTURE(holds);
    Scene scene;
    scene.ask(reader("a:1"));
    scene.server.cli({"HSET", "deploy", "b:1", holds, "c:1", "1"});
    CHECK(scene.release(reader("a:1")).how == How::yes);
    CHECK(scene.server.cli({"HLEN", "deploy"}) == "3");
    CHECK(scene.server.pttl("deploy") > 10000);
  }
  Scene scene;
  scene.ask(reader("a:1"));
  for (int other = 0; other < 101; ++other)
    scene.server.cli({"HSET", "deploy", "b:" + std::to_string(other), "1"});
  CHECK(scene.release(reader("a:1")).how == How::yes);
  CHECK(scene.server.cli({"HLEN", "deploy"}) == "102");
  scene.ask(reader("a:1"));
  scene.server.cli({"HDEL", "deploy", "b:0"});
  CHECK(scene.release(reader("a:1")).how == How::yes);
  CHECK_FALSE(scene.server.has("deploy"));
}
