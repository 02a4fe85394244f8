#include "sync/kinds/lock.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "scripts.h"
#include "support/contains.h"
#include "support/scene.h"
#include "support/skipped.h"
#include "sync/kinds/permit_lock.h"
#include "sync/kinds/plain.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;
using How = Released::How;

namespace {

Reply answer(std::vector<Reply> items) { return Reply{std::move(items)}; }
Reply word(std::string text) { return Reply{std::move(text)}; }

}  // namespace

// --- meaning ---------------------------------------------------------------------------------------

TEST_CASE("a lock is asked for under its key, with the line beside it, and announced on Redisson's channel") {
  const Lock lock{claim("me:1")};
  const std::string line = "redisson_unlock_latch:{deploy}:line";

  CHECK(lock.ask().keys == std::vector<std::string>{"deploy", line, line + ":waiters", line + ":facts"});
  CHECK(lock.ask().args == std::vector<std::string>{"me:1", "30000", "60000", "-1",
                                                    "redisson_lock__channel:{deploy}", "0", "0"});
  REQUIRE(lock.ask().while_slot_moves.size() == 1);
  CHECK(lock.ask().while_slot_moves.front().keys == std::vector<std::string>{"deploy"});
  CHECK(lock.channels() == std::vector{Channel{"redisson_lock__channel:{deploy}"}});
}

TEST_CASE("if a key beside the lock has other content, the message names each key that it may be") {
  const AcquireAnswer answer = Lock{claim("me:1")}.read(Reply::error("WRONGTYPE Operation against a key"));
  REQUIRE(std::holds_alternative<Failure>(answer));
  const Failure& failure = std::get<Failure>(answer);
  CHECK(failure.kind == Error::wrong_type);
  CHECK(contains(failure.text, "'redisson_unlock_latch:{deploy}:line'"));
  CHECK(contains(failure.text, "'redisson_unlock_latch:{deploy}:line:waiters'"));

  const AcquireAnswer denied = Lock{claim("me:1")}.read(Reply::error("NOPERM this user has no permissions"));
  CHECK_FALSE(contains(std::get<Failure>(denied).text, "one of"));
}

TEST_CASE("a release names its request, and while its slot moves it has one key") {
  const Call release = Lock{claim("me:1")}.release({});

  CHECK(release.keys.size() == 6);
  CHECK(release.keys[4].starts_with("redisson_unlock_latch:{deploy}:"));
  CHECK(release.keys.back() == "redisson_unlock_latch:{deploy}:keep");
  REQUIRE(release.while_slot_moves.size() == 1);
  CHECK(release.while_slot_moves.front().keys == std::vector<std::string>{"deploy"});
}

TEST_CASE(
    "if the outer release keeps the key, a copy of it does the same, and the inner release keeps it, too") {
  Scene scene;
  const Lock outer{claim("me:1")}, inner{claim("me:1"), Hold::inner};
  scene.ask(outer);
  scene.ask(inner);
  const auto time = split(scene.server.cli({"TIME"}), '\n');
  const ServerTime until{Milliseconds{std::stoll(time.front()) * 1000 + 60000}};
  const auto [first, second] = scene.redis.twice(outer.release({.keep_until = until}));
  for (const Reply& reply : {first, second}) {
    const Released released = std::get<Released>(outer.read_release(reply));
    CHECK(released.how == Released::How::kept);
    CHECK(released.rest > 50s);
  }
  CHECK(scene.server.cli({"HGET", "deploy", "me:1"}) == "1");
  CHECK(scene.server.pttl("deploy") <= 30000);
  CHECK(scene.release(inner).how == Released::How::kept);
  CHECK(scene.server.pttl("deploy") > 50000);
  // After a removal by force, the next owner's release keeps nothing.
  scene.redis.run(Lock::force(LockName{"deploy"}, Owner{}, PubSub::classic));
  const Lock next{claim("you:1")};
  scene.ask(next);
  CHECK(scene.release(next).how == Released::How::yes);
}

TEST_CASE("the answers to an acquire are held, busy, never free by itself, and foreign") {
  const Lock lock{claim("me:1")};

  CHECK(std::get<Held>(lock.read(answer({word("held"), Reply{1795213126005}}))).server_time ==
        ServerTime{Milliseconds{1795213126005}});
  CHECK(std::get<Busy>(lock.read(answer({word("busy"), Reply{1200}}))).retry_after == Milliseconds{1200});
  const auto endless = std::get<Busy>(lock.read(answer({word("busy"), Reply{-1}})));
  CHECK(endless.no_ttl);
  CHECK_FALSE(endless.retry_after);
  const auto refused = std::get<Refused>(lock.read(answer({word("foreign"), word("read-write")})));
  CHECK(refused.why == Refused::Why::wrong_type);
  CHECK(
      refused.text ==
      "'deploy' holds a read/write lock, not a lock; take it with --write (-x) or --read (-s), or choose another key");
}

TEST_CASE("a reply that no script of ours gives is a failure of the server, and so is an error reply") {
  const Lock lock{claim("me:1")};
  for (const Reply& reply :
       {answer({word("what")}), answer({}), Reply{}, Reply{1}, word("held"), answer({Reply{1}})}) {
    CAPTURE(written(reply));
    CHECK(std::get<Failure>(lock.read(reply)).kind == Error::internal);
    CHECK(std::get<Failure>(lock.read_release(reply)).kind == Error::internal);
  }
  CHECK(std::get<Failure>(lock.read_renewal(word("held"))).kind == Error::internal);

  const Reply denied = Reply::error("NOPERM this user has no permissions");
  CHECK(std::get<Failure>(lock.read(denied)).kind == Error::denied);
  CHECK(std::get<Failure>(lock.read_renewal(denied)).kind == Error::denied);
  CHECK(std::get<Failure>(lock.read_release(denied)).kind == Error::denied);
}

TEST_CASE("a call that needs more than the key of the lock has no form for a slot that moves") {
  CHECK(Lock{claim("me:1"), Hold::inner}.ask().while_slot_moves.empty());
  Claim newest = claim("me:1");
  newest.ticket = 7;
  CHECK(Lock{newest}.ask().while_slot_moves.empty());
  CHECK(PermitLock{claim("me:1"), {}}.ask().while_slot_moves.empty());
}

TEST_CASE("a call that has one key in any case has no other form for a slot that moves") {
  CHECK(Lock{claim("me:1")}.renew().keys.size() == 1);
  CHECK(Lock{claim("me:1")}.renew().while_slot_moves.empty());
}

TEST_CASE("over several servers a lock sends the script without a line, if it has such a script") {
  Claim quorum = claim("me:1");
  quorum.if_busy = IfBusy::no_places;
  CHECK(Lock{quorum}.ask().script == scripts::lock_acquire.for_quorum);
  CHECK(SpinLock{quorum, {}}.ask().script == scripts::lock_acquire.for_quorum);
  CHECK(PlainLock{quorum, {}}.ask().script == &scripts::plain_acquire);
  CHECK(Lock{claim("me:1")}.ask().script == &scripts::lock_acquire);
}

TEST_CASE("a waiter that polls stands in no line") {
  Claim waiting = claim("me:1");
  waiting.if_busy = IfBusy::place;
  CHECK(Lock{waiting}.takes_place());
  CHECK_FALSE(SpinLock{waiting, {}}.takes_place());
  CHECK_FALSE(PlainLock{waiting, {}}.takes_place());
}

TEST_CASE("a spin lock waits for no announcement and makes none") {
  const SpinLock lock{claim("me:1"), {Milliseconds{1}, Milliseconds{128}}};
  CHECK(lock.channels().empty());
  CHECK(lock.release({}).args.back() == "1");  // `silent`
  CHECK(lock.pause().most == Milliseconds{128});
}

// --- server ----------------------------------------------------------------------------------------

TEST_CASE("a lock is Redisson's hash with a TTL, and excludes another owner") {
  Scene scene;
  const Lock mine{claim("me:1")};
  const Lock theirs{claim("you:1")};

  const AcquireAnswer got = scene.ask(mine);
  REQUIRE(is_held(got));
  CHECK(std::get<Held>(got).server_time.time_since_epoch().count() > 1600000000000);
  CHECK(scene.all() == "deploy (ends) hash ['me:1', '1']");
  const AcquireAnswer refused = scene.ask(theirs);
  REQUIRE(is_busy(refused));
  CHECK(std::get<Busy>(refused).retry_after > Milliseconds{29000});
  CHECK(scene.release(theirs).how == How::not_ours);
  CHECK_FALSE(scene.renew(theirs));
  CHECK(scene.all() == "deploy (ends) hash ['me:1', '1']");
}

TEST_CASE("an acquire that is sent twice holds once") {
  Scene scene;
  const Lock lock{claim("me:1")};
  scene.redis.twice(lock.ask());

  CHECK(scene.all() == "deploy (ends) hash ['me:1', '1']");
  CHECK(scene.release(lock).how == How::yes);
  CHECK(scene.all().empty());
}

TEST_CASE("a release wakes the waiters, with Redisson's message") {
  Scene scene;
  const Lock lock{claim("me:1")};
  Listener waiter{scene.server, lock.channels().front()};
  scene.ask(lock);

  CHECK(scene.release(lock).unannounced.empty());
  CHECK(waiter.heard() == "0");
}

TEST_CASE("a silent release publishes no message") {
  Scene scene;
  const Lock lock{claim("me:1")};
  Listener waiter{scene.server, lock.channels().front()};
  scene.ask(lock);

  CHECK(scene.release(lock, {.wake = Wake::nobody}).how == How::yes);
  CHECK(waiter.silence());
}

TEST_CASE("without rights to publish a release still releases, and says why no waiter was told") {
  Scene scene;
  const Lock lock{claim("me:1")};
  scene.ask(lock);
  scene.become("mute", {"~*", "+@all", "resetchannels"});

  const Released released = scene.release(lock);
  CHECK(released.how == How::yes);
  CHECK(contains(released.unannounced, "channel"));
  CHECK_FALSE(scene.server.has("deploy"));
}

TEST_CASE("without rights to set a TTL an acquire leaves no lock without one") {
  Scene scene;
  scene.become("half", {"~*", "&*", "+@all", "-pexpire"});

  CHECK(scene.redis.run(Lock{claim("me:1")}.ask()).is_error());
  CHECK_FALSE(scene.server.has("deploy"));
}

TEST_CASE("a repeated release finds nothing, and leaves other owners' locks alone") {
  Scene scene;
  const Lock mine{claim("me:1")};
  scene.ask(mine);
  CHECK(scene.release(mine).how == How::yes);
  CHECK(scene.release(mine).how == How::not_ours);

  scene.ask(Lock{claim("you:1")});
  CHECK(scene.release(mine).how == How::not_ours);
  CHECK(scene.all() == "deploy (ends) hash ['you:1', '1']");
}

TEST_CASE("a renewal sets the whole lease again and never makes a lock that is gone") {
  Scene scene;
  const Lock lock{claim("me:1")};
  scene.ask(lock);
  scene.server.cli({"PEXPIRE", "deploy", "1000"});

  CHECK(scene.renew(lock));
  CHECK(scene.server.pttl("deploy") > 29000);
  scene.server.cli({"PERSIST", "deploy"});
  CHECK(scene.renew(lock));
  CHECK(scene.server.pttl("deploy") > 29000);
  scene.server.del("deploy");
  CHECK_FALSE(scene.renew(lock));
  CHECK(scene.all().empty());
}

TEST_CASE("--min-hold keeps the key with the rest as its TTL") {
  Scene scene;
  const Lock lock{claim("me:1")};
  const auto taken = std::get<Held>(scene.ask(lock));

  const Released kept = scene.release(lock, {.keep_until = taken.server_time + Milliseconds{60000}});
  CHECK(kept.how == How::kept);
  CHECK(kept.rest > Milliseconds{59000});
  CHECK(scene.server.pttl("deploy") > 59000);
  CHECK(is_busy(scene.ask(Lock{claim("you:1")})));
  CHECK(scene.release(lock, {.keep_until = taken.server_time - Milliseconds{1}}).how == How::yes);
}

TEST_CASE("re-entry counts one more hold, once, and its release counts it down, once") {
  Scene scene;
  const Lock outer{claim("me:1")};
  const Lock inner{claim("me:1"), Hold::inner};
  scene.ask(outer);

  scene.redis.twice(inner.ask());
  CHECK(scene.server.cli({"HGET", "deploy", "me:1"}) == "2");
  const auto [first, second] = scene.redis.twice(inner.release({}));
  CHECK(written(first) == "['still_held']");
  CHECK(written(second) == "['not_ours']");
  CHECK(scene.server.cli({"HGET", "deploy", "me:1"}) == "1");
  CHECK(scene.release(outer).how == How::yes);
}

TEST_CASE("re-entry into a lock that is not held is refused and takes nothing") {
  Scene scene;
  CHECK(std::get<Refused>(scene.ask(Lock{claim("me:1"), Hold::inner})).why == Refused::Why::absent);
  scene.ask(Lock{claim("you:1")});
  CHECK(is_refused(scene.ask(Lock{claim("me:1"), Hold::inner})));
  CHECK(scene.all() == "deploy (ends) hash ['you:1', '1']");
}

TEST_CASE("a re-entry that is given back leaves the outer hold, also when it never happened") {
  Scene scene;
  const Lock outer{claim("me:1")};
  const Lock inner{claim("me:1"), Hold::inner};
  scene.ask(outer);

  const Lock never{claim("me:1"), Hold::inner};
  scene.redis.run(*never.undo(Wake::waiters));
  CHECK(scene.lock() == "deploy (ends) hash ['me:1', '1']");
  scene.ask(inner);
  scene.redis.twice(*inner.undo(Wake::waiters));
  CHECK(scene.lock() == "deploy (ends) hash ['me:1', '1']");
}

TEST_CASE("an outer hold that ends first leaves the inner one, which then frees the lock") {
  Scene scene;
  const Lock outer{claim("me:1")};
  const Lock inner{claim("me:1"), Hold::inner};
  scene.ask(outer);
  scene.ask(inner);

  CHECK(scene.release(outer).how == How::still_held);
  CHECK(scene.release(outer).how == How::still_held);
  CHECK(scene.server.cli({"HGET", "deploy", "me:1"}) == "1");
  CHECK(scene.release(inner).how == How::yes);
}

TEST_CASE(
    "a release with one key, as while a slot moves, leaves inner holds alone, and asks for a second call") {
  Scene scene;
  const Lock outer{claim("me:1")};
  scene.ask(outer);
  scene.ask(Lock{claim("me:1"), Hold::inner});

  const Call single = outer.release({}).while_slot_moves.front();
  const Released ended = released(outer.read_release(scene.redis.run(single)));
  REQUIRE(ended.then);
  CHECK(scene.server.cli({"HGET", "deploy", "me:1"}) == "2");
  CHECK(released(outer.read_release(scene.redis.run(*ended.then))).how == How::still_held);
  CHECK(scene.server.cli({"HGET", "deploy", "me:1"}) == "1");
}

TEST_CASE("an inner hold with a shorter lease never shortens the outer one") {
  Scene scene;
  scene.ask(Lock{claim("me:1")});
  Claim brief = claim("me:1");
  brief.lease = Milliseconds{1000};
  const Lock inner{brief, Hold::inner};

  scene.ask(inner);
  CHECK(scene.renew(inner));
  CHECK(scene.server.pttl("deploy") > 29000);
  scene.release(inner);
  CHECK(scene.server.pttl("deploy") > 29000);
}

TEST_CASE("the release of an inner hold leaves the outer one a whole lease, as Redisson's does") {
  Scene scene;
  const Lock inner{claim("me:1"), Hold::inner};
  scene.ask(Lock{claim("me:1")});
  scene.ask(inner);
  scene.server.cli({"PEXPIRE", "deploy", "1000"});

  CHECK(scene.release(inner).how == How::still_held);
  CHECK(scene.server.pttl("deploy") > 29000);
}

TEST_CASE("a busy lock without a TTL is reported as one") {
  Scene scene;
  scene.server.cli({"HSET", "deploy", "you:1", "1"});
  CHECK(std::get<Busy>(scene.ask(Lock{claim("me:1")})).no_ttl);
}

TEST_CASE("a key that is no lock is refused and left unchanged") {
  Scene scene;
  const Words others[] = {
      {"SET", "deploy", "token"},
      {"SET", "deploy", "7"},
      {"RPUSH", "deploy", "a"},
      {"SADD", "deploy", "a"},
      {"ZADD", "deploy", "1", "a"},
      {"XADD", "deploy", "1-1", "a", "b"},
      {"HSET", "deploy", "me:1", "0"},
      {"HSET", "deploy", "me:1", "-1"},
      {"HSET", "deploy", "me:1", "1.5"},
      {"HSET", "deploy", "name", "value"},
      {"HSET", "deploy", "mode", "read", "you:1", "1"},
      {"HSET", "deploy", "mode", "other"},
      {"HSET", "deploy", "abc", "you:1", "abc:you:1:expire_time", "1", "abc:you:1:lock_count", "1"},
  };
  for (const Words& other : others) {
    CAPTURE(joined(other, " "));
    scene.server.del("deploy");
    scene.server.cli(other);
    const std::string before = scene.lock();
    const Lock lock{claim("me:1")};

    CHECK(is_refused(scene.ask(lock)));
    CHECK(scene.release(lock).how == How::not_ours);
    scene.redis.run(*Lock(claim("me:1"), Hold::inner).undo(Wake::waiters));
    CHECK(decode_forced(LockName{"deploy"}, "a lock",
                        scene.redis.run(Lock::force(LockName{"deploy"}, Owner{}, PubSub::classic)))
              .how == Forced::How::refused);
    CHECK_FALSE(scene.renew(lock));
    CHECK(scene.lock() == before);
  }
}

TEST_CASE("force removes the lock of any holder, or only that of a given owner") {
  Scene scene;
  const LockName name{"deploy"};
  const auto force = [&](const std::string& owner) {
    return decode_forced(name, "a lock", scene.redis.run(Lock::force(name, Owner{owner}, PubSub::classic)));
  };
  CHECK(force("").how == Forced::How::nothing_there);

  scene.ask(Lock{claim("you:1")});
  CHECK(force("me:1").how == Forced::How::other_owner);
  CHECK(force("me:1").other == "you:1");
  CHECK(force("you:1").how == Forced::How::removed);
  scene.ask(Lock{claim("you:1")});
  CHECK(force("").how == Forced::How::removed);
  CHECK_FALSE(scene.server.has("deploy"));
}

TEST_CASE("force, and a release by name, wake the living head of a fair queue") {
  Scene scene;
  Listener waiter{scene.server, Channel{"redisson_lock__channel:{deploy}:alive:1"}};
  const auto queue = [&] {
    scene.server.cli({"RPUSH", "redisson_lock_queue:{deploy}", "dead:1", "alive:1"});
    scene.server.cli({"ZADD", "redisson_lock_timeout:{deploy}", "1", "dead:1", "9999999999999", "alive:1"});
  };

  queue();
  const Lock lock{claim("me:1")};
  scene.ask(lock);
  CHECK(released(lock.read_release(scene.redis.run(lock.release_any()))).how == How::yes);
  CHECK(waiter.heard() == "0");
  CHECK(scene.server.cli({"LRANGE", "redisson_lock_queue:{deploy}", "0", "-1"}) == "alive:1");

  scene.ask(Lock{claim("you:1")});
  scene.redis.run(Lock::force(LockName{"deploy"}, Owner{}, PubSub::classic));
  CHECK(waiter.heard() == "0");
}

TEST_CASE("two releases by name of two holds are counted one by one") {
  Scene scene;
  scene.ask(Lock{claim("me:1")});
  scene.ask(Lock{claim("me:1"), Hold::inner});

  const Lock first{claim("me:1")};
  CHECK(written(scene.redis.twice(first.release_any()).second) == "['still_held']");
  const Lock second{claim("me:1")};
  const auto [freed, again] = scene.redis.twice(second.release_any());
  CHECK(written(freed) == "['released', '']");
  CHECK(written(again) == "['released', '']");
  CHECK_FALSE(scene.server.has("deploy"));
}

TEST_CASE("in a cluster a lock is announced to both kinds of listeners") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  Scene scene;
  Claim sharded = claim("me:1");
  sharded.pub_sub = PubSub::sharded_too;
  const Lock lock{sharded};
  Listener waiter{scene.server, lock.channels().front(), /*sharded=*/true};

  scene.ask(lock);
  scene.release(lock);
  CHECK(waiter.heard() == "0");
}
