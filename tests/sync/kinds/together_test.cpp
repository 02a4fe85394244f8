#include "sync/kinds/together.h"

#include <doctest/doctest.h>

#include "support/contains.h"
#include "support/direct.h"
#include "support/redis_server.h"
#include "support/scene.h"
#include "sync/kinds/fair.h"
#include "sync/kinds/lock.h"
#include "sync/kinds/read_write.h"

using namespace rlock;
using namespace rlock::test;

namespace {

Claim claim_on(const char* key, const char* owner) {
  return {.name = LockName{key}, .owner = Owner{owner}, .lease = Milliseconds{30000}};
}

/// Three locks of one owner, taken together.
template <class Kind>
struct Three {
  Kind a, b, c;
  explicit Three(const char* owner)
      : a(claim_on("a", owner)), b(claim_on("b", owner)), c(claim_on("c", owner)) {}
  std::vector<const Lockable*> members() const { return {&a, &b, &c}; }
};

}  // namespace

TEST_CASE("locks of different kinds cannot be taken by one script") {
  const Lock first{claim_on("a", "o:1")};
  const Lock again{claim_on("b", "o:1"), Hold::inner};
  const std::vector<const Lockable*> members{&first, &again};

  CHECK_FALSE(Together::of(members).has_value());
}

TEST_CASE("several keys are undone by one call, unless each release must wake waiters") {
  const Three<Lock> three{"o:1"};
  const auto members = three.members();
  const auto together = Together::of(members);
  REQUIRE(together.has_value());
  CHECK_FALSE(together->undo(Wake::waiters));
  const auto undo = together->undo(Wake::nobody);
  REQUIRE(undo);
  CHECK(undo->script == together->ask().script);
  CHECK(together->ask().args.front() == "3");
  CHECK(undo->args.front() == "-3");
}

TEST_CASE("of several keys, a message of the busy one moves us up in its line") {
  const Three<Lock> three{"o:1"};
  const auto members = three.members();
  const auto together = Together::of(members);
  REQUIRE(together.has_value());
  const Message moved{Channel{"redisson_lock__channel:{b}:o:1"}, "2 5000"};
  CHECK(together->read_notice(moved, {.position = 3, .key = LockName{"b"}}).place == 2);
  const Line::Notice other = together->read_notice(moved, {.position = 3, .key = LockName{"other"}});
  CHECK_FALSE(other.place);
  CHECK(other.ask_after == Milliseconds{0});
}

TEST_CASE_TEMPLATE("several locks are taken together, all of them or none", Kind, Lock, FairLock) {
  RedisServer redis;
  Direct direct{redis};
  const Three<Kind> three{"o:1"};
  const auto members = three.members();
  const auto together = Together::of(members);
  REQUIRE(together.has_value());

  SUBCASE("all are free") {
    const AcquireAnswer answer = together->read(direct.run(together->ask()));
    REQUIRE(std::holds_alternative<Held>(answer));
    CHECK(std::get<Held>(answer).members.size() == 3);
    for (const char* key : {"a", "b", "c"}) {
      CHECK(redis.cli({"HGET", key, "o:1"}) == "1");
      CHECK(redis.pttl(key) > 0);
    }
  }
  SUBCASE("asking twice is asking once") {
    direct.run(together->ask());
    const Reply reply = direct.run(together->ask());
    CHECK(std::holds_alternative<Held>(together->read(reply)));
    CHECK(redis.cli({"HGET", "b", "o:1"}) == "1");
  }
  SUBCASE("the last is busy: the others stay as they were, and it is named") {
    direct.run(Kind{claim_on("c", "other:1")}.ask());
    const AcquireAnswer answer = together->read(direct.run(together->ask()));
    REQUIRE(std::holds_alternative<Busy>(answer));
    CHECK(std::get<Busy>(answer).key == LockName{"c"});
    CHECK_FALSE(redis.has("a"));
    CHECK_FALSE(redis.has("b"));
    CHECK(redis.cli({"HGET", "c", "other:1"}) == "1");
  }
  SUBCASE("the last is busy: a hold that the owner had keeps its lease") {
    Claim before = claim_on("a", "o:1");
    before.lease = Milliseconds{10000};
    direct.run(Kind{before}.ask());
    direct.run(Kind{claim_on("c", "other:1")}.ask());
    REQUIRE(std::holds_alternative<Busy>(together->read(direct.run(together->ask()))));
    CHECK(redis.cli({"HGET", "a", "o:1"}) == "1");
    CHECK(redis.pttl("a") <= 10000);
    CHECK_FALSE(redis.has("b"));
  }
  SUBCASE("the last is busy: a hold that a named owner had goes on as before") {
    const auto named = [](const char* key) {
      Claim one = claim_on(key, "o:1");
      one.owner_returns = true;
      return Kind{one};
    };
    const Kind before = named("a"), a = named("a"), c = named("c");
    direct.run(before.ask());
    direct.run(Kind{claim_on("c", "other:1")}.ask());
    const std::vector<const Lockable*> both{&a, &c};
    REQUIRE(std::holds_alternative<Busy>(Together::of(both)->read(direct.run(Together::of(both)->ask()))));
    CHECK(std::holds_alternative<Renewed>(before.read_renewal(direct.run(before.renew()))));
    CHECK(released(before.read_release(direct.run(before.release({})))).how == Released::How::yes);
    CHECK_FALSE(redis.has("a"));
  }
  SUBCASE("a waiter for one of them stands in no other queue") {
    direct.run(Kind{claim_on("c", "other:1")}.ask());
    direct.run(together->ask());
    direct.run(Kind{claim_on("a", "other:1")}.ask());
    const AcquireAnswer answer = together->read(direct.run(together->ask()));
    REQUIRE(std::holds_alternative<Busy>(answer));
    CHECK(std::get<Busy>(answer).key == LockName{"a"});
    CHECK(redis.cli({"EXISTS", "redisson_lock_queue:{c}", "redisson_lock_timeout:{c}"}) == "0");
    CHECK(redis.cli({"HGET", "c", "other:1"}) == "1");
  }
  SUBCASE("one is busy, before or behind another that the server remembers: both are taken when it is free") {
    for (const char* const busy : {"a", "b"}) {
      CAPTURE(busy);
      redis.cli({"DEL", "a", "b"});
      Claim a = claim_on("a", "o:1"), b = claim_on("b", "o:1");
      (busy == std::string_view{"a"} ? b : a).owner_returns = true;  // then the server remembers the request
      const Kind first{a}, second{b};
      const std::vector<const Lockable*> members_of_two{&first, &second};
      const auto both = Together::of(members_of_two);
      REQUIRE(both.has_value());
      direct.run(Kind{claim_on(busy, "other:1")}.ask());
      REQUIRE(std::holds_alternative<Busy>(both->read(direct.run(both->ask()))));
      redis.del(busy);
      CHECK(std::holds_alternative<Held>(both->read(direct.run(both->ask()))));
    }
  }
  SUBCASE("one is something else: refused, and nothing is taken") {
    redis.cli({"SET", "b", "text"});
    const AcquireAnswer answer = together->read(direct.run(together->ask()));
    REQUIRE(std::holds_alternative<Refused>(answer));
    CHECK_FALSE(redis.has("a"));
    CHECK(redis.cli({"GET", "b"}) == "text");
  }
}

TEST_CASE("if another key is busy, the readers of a key keep the lease that they had") {
  Scene scene;
  const auto reads = [](const char* key, const char* owner, Milliseconds lease) {
    return ReadLock{{.name = LockName{key}, .owner = Owner{owner}, .lease = lease}};
  };
  scene.ask(reads("a", "b:1", Milliseconds{20000}));
  scene.ask(WriteLock{{.name = LockName{"b"}, .owner = Owner{"b:1"}}});
  const ReadLock a = reads("a", "me:1", Milliseconds{3'600'000}),
                 b = reads("b", "me:1", Milliseconds{3'600'000});
  const std::vector<const Lockable*> members{&a, &b};
  CHECK(is_busy(scene.ask(*Together::of(members))));
  CHECK(scene.server.pttl("a") <= 20000);
  CHECK(scene.server.pttl("a") > 10000);
}

TEST_CASE("who leaves the queue behind the busy key tells the waiter that is now the first there") {
  RedisServer redis;
  Direct direct{redis};
  const auto fair = [](const char* key, const char* owner) {
    Claim waiting = claim_on(key, owner);
    waiting.if_busy = IfBusy::place;
    return FairLock{waiting};
  };
  const Three<FairLock> three{"o:1"};
  const std::vector<const Lockable*> members{&three.a, &three.b};
  const auto together = Together::of(members);
  REQUIRE(together.has_value());
  for (const FairLock& lock : {fair("b", "h:1"), fair("b", "o:1"), fair("b", "w:1"), fair("a", "h:1")})
    direct.run(lock.ask(Milliseconds{0}));
  Listener waiter{redis, Channel{"redisson_lock__channel:{b}:w:1"}};

  SUBCASE("that key is held: when its lease ends") {
    CHECK(std::holds_alternative<Busy>(together->read(direct.run(together->ask()))));
    CHECK(waiter.heard().starts_with("1 "));
  }
  SUBCASE("that key is free: its turn has come") {
    redis.del("b");
    CHECK(std::holds_alternative<Busy>(together->read(direct.run(together->ask()))));
    CHECK(waiter.heard() == "0");
  }
  CHECK(redis.cli({"LRANGE", "redisson_lock_queue:{b}", "0", "-1"}) == "w:1");
}

TEST_CASE("several keys with more than a script may read are refused, however long their lines are") {
  RedisServer redis;
  Direct direct{redis};
  const Three<Lock> three{"o:1"};
  const auto together = Together::of(three.members());
  REQUIRE(together.has_value());
  const auto fill = [&](const std::string& key) {
    redis.cli({"EVAL", "for i = 1, 17001 do redis.call('zadd', KEYS[1], i, i) end", "1", key});
  };
  fill("redisson_unlock_latch:{a}:line");
  CHECK(std::holds_alternative<Held>(together->read(direct.run(together->ask()))));
  redis.del("b");
  fill("b");
  const AcquireAnswer answer = together->read(direct.run(together->ask()));
  REQUIRE(std::holds_alternative<Refused>(answer));
  CHECK(contains(std::get<Refused>(answer).text, "more entries"));

  // The user's own key, whose name only looks like that of a line.
  fill("a:line");
  const Lock named{claim_on("a:line", "o:1")};
  const std::vector<const Lockable*> others{&named, &three.c};
  const auto looks_alike = Together::of(others);
  REQUIRE(looks_alike.has_value());
  const AcquireAnswer other = looks_alike->read(direct.run(looks_alike->ask()));
  REQUIRE(std::holds_alternative<Refused>(other));
  CHECK(contains(std::get<Refused>(other).text, "more entries"));
}

TEST_CASE("a lock that is taken and undone in one call, because another is busy, counts as no pass") {
  RedisServer redis;
  Direct direct{redis};
  Claim waiting = claim_on("a", "w:1");
  waiting.if_busy = IfBusy::place;
  const Lock holder{claim_on("a", "h:1")}, waiter{waiting}, other{claim_on("b", "x:1")};
  for (const Lock* lock : {&holder, &waiter, &other}) direct.run(lock->ask());
  Listener hears{redis, Channel{"redisson_lock__channel:{a}:w:1"}};
  direct.run(holder.release({}));

  const Three<Lock> three{"o:1"};
  const auto members = three.members();
  const auto together = Together::of(members);
  REQUIRE(together.has_value());
  const auto passes = [&] {
    return redis.cli({"HGET", "redisson_unlock_latch:{a}:line:waiters", ""}).substr(0, 2);
  };
  for (int i = 0; i < 12; ++i)
    CHECK(std::holds_alternative<Busy>(together->read(direct.run(together->ask()))));
  CHECK(passes() == "0 ");
  direct.run(other.release({}));
  CHECK(std::holds_alternative<Held>(together->read(direct.run(together->ask()))));
  CHECK(passes() == "1 ");
}

TEST_CASE("a lock that is taken and undone in one call leaves nothing of a line whose only waiter is gone") {
  RedisServer redis;
  Direct direct{redis};
  Claim waiting = claim_on("a", "w:1");
  waiting.if_busy = IfBusy::place;
  const Lock holder{claim_on("a", "h:1")}, waiter{waiting}, other{claim_on("b", "x:1")};
  for (const Lock* lock : {&holder, &waiter, &other}) direct.run(lock->ask());
  {
    const Listener hears{redis, Channel{"redisson_lock__channel:{a}:w:1"}};
    direct.run(holder.release({}));
  }
  REQUIRE(redis.has("redisson_unlock_latch:{a}:line:waiters"));
  const Three<Lock> three{"o:1"};
  const auto members = three.members();
  const auto together = Together::of(members);
  REQUIRE(together.has_value());
  CHECK(std::holds_alternative<Busy>(together->read(direct.run(together->ask()))));
  CHECK(redis.cli({"KEYS", "*{a}*"}).empty());
}
