// A copy of a call can stay on its way in an abandoned connection, while its owner does other things.
// Whenever the server executes the copy, the count and the lease of the owner's other holds must not shrink.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cmd/hold/request/lock_types.h"
#include "support/hold_server.h"
#include "sync/kinds/together.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

struct Step {
  const char* what;
  Call call;
};

/// Executes `steps`, and after each step a copy of an earlier one.
void copy_in_between(const std::vector<Step>& steps, const Lockable& looked_at,
                     const std::vector<Call>& at_last) {
  HoldServer server;
  for (std::size_t late = 0; late < steps.size(); ++late) {
    for (std::size_t after = late; after < steps.size(); ++after) {
      CAPTURE(steps[late].what);
      CAPTURE(steps[after].what);
      server.cli({"FLUSHALL"});
      for (std::size_t i = 0; i <= after; ++i) server.run(steps[i].call);
      const Has before = server.has(looked_at);
      server.run(steps[late].call);
      const Has now = server.has(looked_at);
      if (before.holds > 0) {
        CHECK(now.holds == before.holds);
        CHECK(now.rest + kMeanwhile > before.rest);
      }

      for (std::size_t i = after + 1; i < steps.size(); ++i) server.run(steps[i].call);
      for (const Call& call : at_last) server.run(call);
      const Has left = server.has(looked_at);
      // If the copy of the outer acquire comes last, both holds have ended. Then it takes the lock, and only its
      // lease ends that hold.
      const bool taken_by_nobody = late == 0 && after == steps.size() - 1 && left.rest <= kOuterLease;
      CHECK((left.holds == 0 || taken_by_nobody));
    }
  }
}

const std::vector<std::string> kCounted{"lock", "fair", "fenced", "spin", "read", "write"};

}  // namespace

TEST_CASE("no late copy touches the hold inside, whether the outer one lives or has ended") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    const auto outer = make(type, kMe, kOuterLease);
    const auto inner = make(type, kMe, kInnerLease, /*again=*/true);
    copy_in_between({{"outer acquire", outer->ask()},
                     {"outer renew", outer->renew()},
                     {"inner acquire", inner->ask()},
                     {"inner renew", inner->renew()},
                     {"outer renew", outer->renew()},
                     {"outer release", outer->release({})},
                     {"inner renew", inner->renew()},
                     {"inner release", inner->release({})}},
                    *outer, {inner->release({}), outer->release({}), *outer->undo(Wake::waiters)});
  }
}

TEST_CASE("a hold inside that is undone after the outer one has ended leaves nothing behind") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    const auto outer = make(type, kMe, kOuterLease);
    const auto inner = make(type, kMe, kInnerLease, /*again=*/true);
    copy_in_between({{"outer acquire", outer->ask()},
                     {"inner acquire", inner->ask()},
                     {"outer release", outer->release({})},
                     {"inner undo", *inner->undo(Wake::waiters)}},
                    *outer, {*inner->undo(Wake::waiters), outer->release({})});
  }
}

TEST_CASE("copies of the release of an inner hold count once, and leave other inner holds alone") {
  for (const std::string& type : kCounted) {
    CAPTURE(type);
    HoldServer server;
    const auto outer = make(type, kMe, kOuterLease);
    const auto inner = make(type, kMe, kOuterLease, /*again=*/true);
    const auto neighbour = make(type, kMe, kOuterLease, /*again=*/true);
    for (const Call& call : {outer->ask(), inner->ask(), neighbour->ask()}) server.run(call);
    for (int copy = 0; copy < 3; ++copy) server.run(inner->release({}));
    server.run(inner->ask());
    CHECK(server.has(*outer).holds == 2);
    CHECK(std::holds_alternative<NotOurs>(inner->read_renewal(server.redis.run(inner->renew()))));
    CHECK(std::holds_alternative<Renewed>(neighbour->read_renewal(server.redis.run(neighbour->renew()))));
    server.run(neighbour->release({}));
    CHECK(server.has(*outer).holds == 1);
  }
}

TEST_CASE("the server remembers an inner hold for longer than its lease, and its renewals prolong that") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto outer = make(type, kMe, kOuterLease);
    const auto inner = make(type, kMe, kInnerLease, /*again=*/true);
    server.run(outer->ask());
    server.run(inner->ask());
    const std::string request = server.cli({"EVAL",
                                            "for _, key in ipairs(redis.call('keys', '*latch*')) do "
                                            "local text = redis.pcall('get', key) if text == '1' or text == "
                                            "'read' or text == '2' then return key end end return ''",
                                            "0"});
    REQUIRE_FALSE(request.empty());
    CHECK(server.pttl(request) > kInnerLease);
    server.cli({"PEXPIRE", request, "2000"});
    server.run(inner->renew());
    CHECK(server.pttl(request) > kInnerLease);
  }
}

TEST_CASE("a waiter is told if the undo of an inner hold frees the lock") {
  for (const std::string& type : kCounted) {
    CAPTURE(type);
    HoldServer server;
    const auto outer = make(type, kMe, kOuterLease);
    const auto inner = make(type, kMe, kInnerLease, /*again=*/true);
    for (const Call& call : {outer->ask(), inner->ask(), outer->release({})}) server.run(call);
    CHECK(released(inner->read_release(server.redis.run(*inner->undo(Wake::waiters)))).how ==
          Released::How::yes);
    CHECK(server.cli({"EXISTS", "k"}) == "0");
  }
}

TEST_CASE("a repeated acquire of the hold inside renews the lease as the first did") {
  for (const std::string& type : kCounted) {
    CAPTURE(type);
    HoldServer server;
    const auto outer = make(type, kMe, kOuterLease);
    const auto inner = make(type, kMe, kOuterLease, /*again=*/true);
    server.run(outer->ask());
    server.run(inner->ask());
    server.cli({"PEXPIRE", "k", "2000"});
    server.cli({"PEXPIRE", "{k}:me:1:rwlock_timeout:1", "2000"});

    server.run(inner->ask());
    CHECK(server.has(*outer).holds == 2);
    CHECK(server.has(*outer).rest + kMeanwhile > kOuterLease);
  }
}

TEST_CASE("an owner with a user's id keeps its second hold, whatever is left of the first") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    const auto found = make_hold(type, Hold::found, kMe, kOuterLease, /*owner_returns=*/true);
    for (const Lockable* released : {first.get(), found.get()})
      copy_in_between({{"first acquire", first->ask()},
                       {"first renew", first->renew()},
                       {"first release", released->release({})},
                       {"second acquire", second->ask()},
                       {"second renew", second->renew()},
                       {"second release", second->release({})}},
                      *first, {});
    copy_in_between({{"first acquire", first->ask()},
                     {"first undo", *first->undo(Wake::waiters)},
                     {"second acquire", second->ask()},
                     {"second release", second->release({})}},
                    *first, {});
  }
}

TEST_CASE("a hold that has ended is neither renewed nor released once its owner has acquired the lock anew") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto beside = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    server.run(first->ask());
    server.run(beside->ask());
    CHECK(server.renews(*first));
    CHECK(server.renews(*beside));
    server.remove_hold(type);
    server.run(second->ask());
    server.run(second->ask());  // a copy
    for (const Lockable* ended : {first.get(), beside.get(), first.get()}) {
      CHECK_FALSE(server.renews(*ended));
      CHECK(server.release(*ended) == Released::How::not_ours);
      CHECK(server.has(*second).holds == 1);
      CHECK(server.has(*second).rest + kMeanwhile > kInnerLease);
    }
    CHECK(server.renews(*second));
    CHECK(server.release(*second) == Released::How::yes);
    CHECK(server.has(*second).holds == 0);
    CHECK(server.release(*first) == Released::How::not_ours);
  }
}

TEST_CASE("a release of a hold that has ended leaves the place in which its owner waits again") {
  bool held_between = true;
  SUBCASE("its owner has held the lock in between") {}
  SUBCASE("it has not, for a fair lock: a waiter in the line asks again") { held_between = false; }
  for (const std::string type : {"lock", "fair", "read", "write", "permit"}) {
    CAPTURE(type);
    HoldServer server;
    const auto named = [&] {
      return find_lock_type(type)->make(
          {.claim = {.name = kKey,
                     .owner = kMe,
                     .lease = kOuterLease,
                     .owner_returns = true,
                     .if_busy = IfBusy::place},
           .waits = true,
           .options = {.permits = type == "permit" ? std::optional<std::int64_t>{1} : std::nullopt}});
    };
    const auto ended = named(), anew = named(), again = named();
    const auto places = [&] {
      return type == "fair" ? server.cli({"LLEN", "redisson_lock_queue:{k}"})
                            : server.cli({"ZCARD", "redisson_unlock_latch:{k}:line"});
    };
    server.run(ended->ask());
    server.remove_hold(type);
    if (type != "fair" || held_between) {
      server.run(anew->ask());
      server.remove_hold(type);
    }
    server.run(make(type == "read" ? "write" : type, kOther, kOuterLease)->ask());
    server.run(again->ask());
    REQUIRE(places() == "1");
    CHECK(server.release(*ended) == Released::How::not_ours);
    CHECK(places() == "1");
    server.run(*again->undo(Wake::waiters));
    CHECK(places() == "0");
  }
}

TEST_CASE("a late copy of a release that kept the key leaves the owner's next hold") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    server.run(first->ask());
    const std::string note = "redisson_unlock_latch:{k}:keep";  // an inner hold with --min-hold has left it
    server.cli({"SET", note,
                fmt::format("{}\n{}", kMe.str(), (server.time() + kOuterLease).time_since_epoch().count())});
    REQUIRE(server.release(*first) == Released::How::kept);
    server.run(second->ask());

    CHECK(server.release(*first) == Released::How::kept);
    CHECK(server.has(*second).rest + kMeanwhile > kInnerLease);
    server.cli({"DEL", note});  // as if its time were over
    server.run(first->release({}));
    CHECK(server.has(*second).holds == 1);
  }
}

TEST_CASE("a late copy of a release that left an inner hold does not end the owner's next hold") {
  for (const std::string type : {"plain", "permit"}) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto inner = make(type, kMe, kInnerLease, /*again=*/true, /*owner_returns=*/true);
    const auto second = named(type, kOuterLease);
    server.run(first->ask());
    server.run(inner->ask());
    REQUIRE(server.release(*first) == Released::How::still_held);
    server.run(second->ask());

    CHECK(server.release(*first) == Released::How::still_held);
    server.run(inner->release({}));
    CHECK(server.has(*second).holds == 1);
  }
}

TEST_CASE("the undo of an acquire leaves the owner's earlier hold") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto before = named(type, kInnerLease);
    const auto again = named(type, kOuterLease);
    server.run(before->ask());
    server.run(again->ask());
    server.run(*again->undo(Wake::waiters));
    CHECK(server.has(*before).holds == 1);
    CHECK(server.has(*before).rest + kMeanwhile > kInnerLease);
  }
}

TEST_CASE(
    "an owner that has acquired the lock again keeps it when its earlier acquire is undone, or comes again") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    server.run(first->ask());  // its answer is lost
    server.run(second->ask());
    for (const Call& late : {*first->undo(Wake::waiters), first->ask(), *first->undo(Wake::waiters)}) {
      server.run(late);
      CHECK(server.has(*second).holds == 1);
      CHECK(server.has(*second).rest + kMeanwhile > kInnerLease);
    }
    server.run(second->release({}));
    CHECK(server.has(*second).holds == 0);

    const auto third = named(type, kOuterLease);
    server.run(third->ask());
    server.run(*third->undo(Wake::waiters));
    CHECK(server.has(*third).holds == 0);
  }
}

TEST_CASE("an acquire of one half of a read/write lock takes over nothing from the other half") {
  for (const auto& [one, other] : {std::pair{"write", "read"}, std::pair{"read", "write"}}) {
    CAPTURE(one);
    HoldServer server;
    const auto first = make(one, kMe, kOuterLease, false, /*owner_returns=*/true);
    const auto second = make(other, kMe, kInnerLease, false, /*owner_returns=*/true);
    server.run(first->ask());  // its answer is lost
    server.run(second->ask());
    server.run(*first->undo(Wake::waiters));
    CHECK(server.has(*first).holds == 0);
    server.run(*second->undo(Wake::waiters));
    CHECK(server.has(*second).holds == 0);
    CHECK(server.cli({"EXISTS", "k"}) == "0");
  }
}

TEST_CASE("one more hold of an owner leaves the undo of its first hold as it was") {
  for (const std::string& type : kCounted) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto again = make(type, kMe, kInnerLease, /*again=*/true, /*owner_returns=*/true);
    server.run(first->ask());
    server.run(again->ask());
    REQUIRE(server.has(*first).holds == 2);
    server.run(*first->undo(Wake::waiters));
    CHECK(server.has(*first).holds == 1);
    server.run(*again->undo(Wake::waiters));
    CHECK(server.has(*first).holds == 0);
  }
}

TEST_CASE("an acquire that comes after its undo takes nothing") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto lock = named(type, kOuterLease);
    server.run(*lock->undo(Wake::waiters));
    server.run(lock->ask());
    CHECK(server.has(*lock).holds == 0);
  }
}

TEST_CASE("a late copy of an acquire of several keys releases no later hold") {
  for (const std::string type : {"lock", "fair", "fenced", "read", "write", "plain"}) {
    CAPTURE(type);
    HoldServer server;
    const auto member = [&](const char* name, const Owner& owner, bool again = false) {
      return find_lock_type(type)->make(
          {.claim = {.name = LockName{name}, .owner = owner, .lease = kOuterLease},
           .hold = again ? Hold::inner : Hold::first});
    };
    const auto a = member("k", kMe), b = member("other", kMe);
    const std::vector<const Lockable*> members{a.get(), b.get()};
    const auto together = Together::of(members);
    server.run(together->ask());
    const auto inner = member("k", kMe, /*again=*/true);
    server.run(inner->ask());
    server.run(b->release({}));
    server.run(member("other", kOther)->ask());
    const Has before = server.has(*a);

    server.run(together->ask());
    CHECK(server.has(*a).holds == before.holds);
    server.run(a->release({}));
    server.run(together->ask());
    CHECK(server.has(*a).holds == 1);  // the inner hold
  }
}

TEST_CASE("a late copy of an acquire of several keys leaves the ones behind a key that was lost") {
  for (const std::string type : {"lock", "fair", "fenced", "read", "write", "plain"}) {
    for (const bool named : {false, true}) {
      CAPTURE(type);
      CAPTURE(named);
      HoldServer server;
      const auto member = [&](const char* name, const Owner& owner) {
        return find_lock_type(type)->make(
            {.claim = {
                 .name = LockName{name}, .owner = owner, .lease = kOuterLease, .owner_returns = named}});
      };
      const auto a = member("a", kMe), b = member("k", kMe);
      const std::vector<const Lockable*> members{a.get(), b.get()};
      const auto together = Together::of(members);
      server.run(together->ask());
      server.cli({"DEL", "a"});
      server.run(member("a", kOther)->ask(0ms));

      server.run(together->ask());
      CHECK(server.has(*b).holds == 1);
    }
  }
}

TEST_CASE("a late copy of an acquire of several fair keys leaves the place in which its owner waits again") {
  HoldServer server;
  const auto member = [&](const char* name, const Owner& owner) {
    return find_lock_type("fair")->make(
        {.claim = {.name = LockName{name}, .owner = owner, .lease = kOuterLease, .owner_returns = true}});
  };
  const auto a = member("a", kMe), b = member("k", kMe);
  const std::vector<const Lockable*> members{a.get(), b.get()};
  const auto together = Together::of(members);
  for (const auto* lock : {a.get(), b.get()}) server.run(*lock->undo(Wake::waiters));
  server.run(member("k", kOther)->ask());
  server.run(member("k", kMe)->ask(0ms));
  REQUIRE(server.cli({"LLEN", "redisson_lock_queue:{k}"}) == "1");

  server.run(together->ask());
  CHECK(server.cli({"LLEN", "redisson_lock_queue:{k}"}) == "1");
}

TEST_CASE("a late copy of the acquire of a fair lock leaves nothing for ever") {
  HoldServer server;
  const auto mine = make("fair", kMe, kOuterLease);
  const auto other = make("fair", kOther, kOuterLease);
  server.run(mine->ask());
  server.run(mine->release({}));
  server.run(other->ask());
  server.run(mine->ask());  // late: it takes a place in the queue
  REQUIRE(server.cli({"LLEN", "redisson_lock_queue:{k}"}) == "1");

  SUBCASE("the release behind it removes the place") {
    server.run(mine->release({}));
    CHECK(server.cli({"EXISTS", "redisson_lock_queue:{k}"}) == "0");
    CHECK(server.cli({"EXISTS", "redisson_lock_timeout:{k}"}) == "0");
  }
  SUBCASE("otherwise the queue expires") {
    server.run(other->release({}));
    for (const char* key : {"redisson_lock_queue:{k}", "redisson_lock_timeout:{k}"}) {
      CHECK(server.pttl(key) > 0ms);
    }
  }
}

TEST_CASE("a late copy of a release leaves the place in which its owner waits again") {
  HoldServer server;
  const auto first = make("fair", kMe, kOuterLease, false, true);
  const auto again = make("fair", kMe, kOuterLease, false, true);
  const auto other = make("fair", kOther, kOuterLease);
  server.run(first->ask());
  server.run(first->release({}));
  server.run(other->ask());
  server.run(again->ask());
  REQUIRE(server.cli({"LLEN", "redisson_lock_queue:{k}"}) == "1");

  server.run(first->release({}));
  CHECK(server.cli({"LLEN", "redisson_lock_queue:{k}"}) == "1");

  server.run(*again->undo(Wake::waiters));
  CHECK(server.cli({"LLEN", "redisson_lock_queue:{k}"}) == "0");
}
