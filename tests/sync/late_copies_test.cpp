// A copy of a call can stay on its way in an abandoned connection, while its owner does other things.
// Whenever the server executes the copy, the count and the lease of the owner's other holds must not shrink.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cmd/hold/lock_types.h"
#include "support/direct.h"
#include "support/eventually.h"
#include "support/redis_server.h"
#include "support/scene.h"
#include "sync/kinds/together.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

const LockName kKey{"k"};
const Owner kMe{"me:1"};
const Owner kOther{"other:1"};
constexpr Milliseconds kOuterLease{9000};
constexpr Milliseconds kInnerLease{3'600'000};
constexpr Milliseconds kMeanwhile{1000};  ///< the largest part of a lease that may pass between two looks

std::unique_ptr<Lockable> make_hold(std::string_view type, Hold hold, const Owner& owner, Milliseconds lease,
                                    bool owner_returns) {
  return find_lock_type(type)->make(
      {.claim = {.name = kKey, .owner = owner, .lease = lease, .owner_returns = owner_returns},
       .hold = hold,
       .options = {.permits = type == "permit" ? std::optional<std::int64_t>{1} : std::nullopt}});
}

std::unique_ptr<Lockable> make(std::string_view type, const Owner& owner, Milliseconds lease,
                               bool again = false, bool owner_returns = false) {
  return make_hold(type, again ? Hold::another : Hold::first, owner, lease, owner_returns);
}

/// An acquire of an owner that the user named.
std::unique_ptr<Lockable> named(std::string_view type, Milliseconds lease) {
  return make(type, kMe, lease, false, /*owner_returns=*/true);
}

/// The number of holds of an owner, and the time that is left of them.
struct Has {
  std::int64_t holds = 0;
  Milliseconds rest{0};
};

/// A server that executes calls, and the state of a hold on it.
struct HoldServer {
  RedisServer server;
  Direct redis{server};

  std::string run(const Call& call) { return written(redis.run(call)); }
  Released::How release(const Lockable& lock) {
    return released(lock.read_release(redis.run(lock.release({})))).how;
  }
  /// Somebody removes the hold of kKey, which is the only one.
  void remove_hold(std::string_view type) {
    cli({"DEL", type == "permit" ? "{k}:timeout" : "k"});
    if (type == "permit") cli({"INCR", "k"});
  }
  bool renews(const Lockable& lock) {
    return std::holds_alternative<Renewed>(lock.read_renewal(redis.run(lock.renew())));
  }
  std::string cli(const std::vector<std::string>& words) { return redis.run(command(words)).text(); }
  Milliseconds pttl(const std::string& key) {
    return Milliseconds{redis.run(command({"PTTL", key})).integer()};
  }

  /// The server's time since the epoch.
  Milliseconds time() {
    const Reply time = redis.run(command({"TIME"}));
    return Milliseconds{std::stoll(time.at(0).text()) * 1000 + std::stoll(time.at(1).text()) / 1000};
  }

  /// The state of `lock` according to its entry.
  Has has(const Lockable& lock) {
    const HoldEntry entry = lock.hold_entry();
    const std::string& key = entry.key;
    const std::string& member = entry.member;
    const std::string type = cli({"TYPE", key});
    if (type == "hash") {
      const Reply holds = redis.run(command({"HGET", key, member}));
      if (holds.is_nil()) return {};
      const std::string timeout = "{k}:" + member + ":rwlock_timeout:1";
      const bool reads = cli({"EXISTS", timeout}) == "1";
      return {std::stoll(holds.text()), reads ? std::min(pttl(key), pttl(timeout)) : pttl(key)};
    }
    if (type == "string") return cli({"GET", key}) == member ? Has{1, pttl(key)} : Has{};
    if (type != "zset") return {};
    const Reply permits = redis.run(command({"ZRANGE", "{k}:timeout", "0", "-1", "WITHSCORES"}));
    if (permits.items().empty()) return {};
    return {1, Milliseconds{std::stoll(permits.at(1).text())} - time()};
  }
};

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
const std::vector<std::string> kAll{"lock", "fair", "fenced", "spin", "read", "write", "plain", "permit"};

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

TEST_CASE("acquires that share a hold release their share, and the last one frees the lock") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    const auto inner = make(type, kMe, kOuterLease, /*again=*/true);
    for (const Lockable* hold : {first.get(), second.get(), inner.get()}) server.run(hold->ask());
    for (int copies = 0; copies < 2; ++copies) {
      CHECK(server.release(*first) == Released::How::still_held);
      CHECK_FALSE(server.renews(*first));
      server.run(first->ask());  // a late copy takes no share again
      CHECK(server.renews(*second));
      CHECK(server.renews(*inner));
    }
    server.release(*inner);
    CHECK(server.has(*second).holds == 1);
    CHECK(server.has(*second).rest + kMeanwhile > kInnerLease);
    CHECK(server.release(*second) == Released::How::yes);
    CHECK(server.has(*second).holds == 0);
  }
}

TEST_CASE("an acquire that is undone leaves no share behind, and takes none from the others") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    server.run(first->ask());
    server.run(second->ask());
    SUBCASE("the one that shares the hold") {
      server.run(*second->undo(Wake::waiters));
      CHECK(server.renews(*first));
      CHECK(server.release(*first) == Released::How::yes);
    }
    SUBCASE("the one that began it") {
      server.run(*first->undo(Wake::waiters));
      CHECK(server.renews(*second));
      CHECK(server.release(*second) == Released::How::yes);
    }
    CHECK(server.has(*second).holds == 0);
  }
}

TEST_CASE("an acquire beside a hold inside, whose outer hold is over, is an outer hold of its own") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    const auto inner = make(type, kMe, kOuterLease, /*again=*/true);
    server.run(first->ask());
    server.run(inner->ask());
    CHECK(server.release(*first) == Released::How::still_held);
    SUBCASE("after an acquire that was undone") {
      const auto undone = named(type, kInnerLease);
      server.run(undone->ask());
      server.run(*undone->undo(Wake::waiters));
    }
    SUBCASE("at once") {}
    server.run(second->ask());
    server.run(second->ask());  // a copy
    server.run(first->ask());   // a late copy
    server.run(inner->release({}));
    CHECK(server.has(*second).holds == 1);
    CHECK(server.renews(*second));
    CHECK(server.release(*second) == Released::How::yes);
    CHECK(server.has(*second).holds == 0);
  }
}

TEST_CASE("a lock that is only kept is shared by nobody") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    const auto inner = make(type, kMe, kOuterLease, /*again=*/true);
    const ReleaseOptions keeping{.keep_until = server.time() + 300ms};
    server.run(first->ask());
    SUBCASE("by its last release") { server.run(first->release(keeping)); }
    SUBCASE("by the release of the hold inside, which ends last") {
      server.run(inner->ask());
      server.run(first->release({}));
      server.run(inner->release(keeping));
    }
    SUBCASE("by a release by hand") {
      const auto found = make_hold(type, Hold::found, kMe, kOuterLease, /*owner_returns=*/true);
      server.run(found->release(keeping));
    }
    CHECK(server.has(*first).holds == 1);
    const auto undone = named(type, kOuterLease);
    server.run(undone->ask());
    server.run(*undone->undo(Wake::waiters));
    CHECK(server.has(*first).holds == 1);  // the time to keep it is not over
    server.run(second->ask());
    CHECK(server.renews(*second));
    REQUIRE(eventually([&] { return server.time() > *keeping.keep_until; }));
    CHECK(server.release(*second) == Released::How::yes);
    CHECK(server.has(*second).holds == 0);
  }
}

TEST_CASE("an undone acquire that was the last to share a hold leaves nothing") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    server.run(first->ask());
    server.run(second->ask());
    CHECK(server.release(*first) == Released::How::still_held);
    server.run(*second->undo(Wake::waiters));
    CHECK(server.has(*second).holds == 0);
    server.run(second->ask());  // a late copy
    CHECK(server.has(*second).holds == 0);
  }
}

TEST_CASE("a late copy of an acquire that shared a hold acquires nothing after its end") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    server.run(first->ask());
    server.run(second->ask());
    CHECK(server.release(*first) == Released::How::still_held);
    CHECK(server.release(*second) == Released::How::yes);
    server.run(second->ask());
    CHECK(server.has(*second).holds == 0);
  }
}

TEST_CASE("a release by hand ends a hold, however many acquires share it") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kOuterLease);
    const auto found = make_hold(type, Hold::found, kMe, kOuterLease, /*owner_returns=*/true);
    server.run(first->ask());
    server.run(second->ask());
    CHECK(server.release(*found) == Released::How::yes);
    CHECK(server.has(*first).holds == 0);
    CHECK(server.release(*first) == Released::How::not_ours);
    CHECK_FALSE(server.renews(*second));
  }
}

TEST_CASE("a reader whose lease has ended beside other readers has acquired the lock anew") {
  HoldServer server;
  const auto first = named("read", Milliseconds{1});
  const auto second = named("read", kOuterLease);
  server.run(make("read", kOther, kOuterLease)->ask());
  server.run(first->ask());
  REQUIRE(eventually([&] { return server.cli({"EXISTS", "{k}:me:1:rwlock_timeout:1"}) == "0"; }));
  server.run(second->ask());
  CHECK(server.release(*first) == Released::How::not_ours);
  CHECK(server.has(*second).holds == 1);
  CHECK(server.release(*second) == Released::How::yes);
  CHECK(server.has(*second).holds == 0);
}

TEST_CASE(
    "the server knows for longer than the lease which acquires share a hold, and renewals prolong that") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto longest = named(type, kInnerLease);
    const std::string grants = "redisson_unlock_latch:{k}:of:" + first->hold_entry().member;
    server.run(first->ask());
    CHECK(server.pttl(grants) > 1h - kMeanwhile);
    server.cli({"PEXPIRE", grants, "5000"});
    server.run(first->renew());
    CHECK(server.pttl(grants) > kOuterLease + kMeanwhile);
    server.run(longest->ask());
    server.run(named(type, kOuterLease)->ask());
    CHECK(server.pttl(grants) > kInnerLease + kMeanwhile);
    server.run(first->renew());
    CHECK(server.pttl(grants) > kInnerLease + kMeanwhile);
  }
}

TEST_CASE("an acquire shares a hold if the server does not know all that share it") {
  const auto first = named("lock", kOuterLease);
  const auto second = named("lock", kOuterLease);
  const std::string grants = "redisson_unlock_latch:{k}:of:me:1";
  HoldServer server;
  server.run(first->ask());
  SUBCASE("the server has lost them") { server.cli({"DEL", grants}); }
  SUBCASE("more than a hundred share it") {
    for (int i = 0; i < 101; ++i) server.run(named("lock", kOuterLease)->ask());
    CHECK(server.cli({"GET", grants}).size() < 3300);
  }
  server.run(second->ask());
  CHECK(server.renews(*first));
  CHECK(server.renews(*second));

  server.remove_hold("lock");
  const auto anew = named("lock", kOuterLease);
  server.run(anew->ask());  // from now on, the server knows them again
  CHECK_FALSE(server.renews(*first));
  CHECK(server.release(*second) == Released::How::not_ours);
  CHECK(server.release(*anew) == Released::How::yes);
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

TEST_CASE("an acquire of a lock that its owner has leaves the release of the earlier acquire as it was") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    server.run(first->ask());
    server.run(second->ask());
    server.run(*second->undo(Wake::waiters));
    CHECK(server.release(*first) == Released::How::yes);
    CHECK(server.has(*first).holds == 0);
  }
}

TEST_CASE("the last acquire of an owner to release returns all permits that it shared with others") {
  HoldServer server;
  const auto permits = [](std::int64_t count) {
    return find_lock_type("permit")->make(
        {.claim = {.name = kKey, .owner = kMe, .lease = kInnerLease, .owner_returns = true},
         .hold = Hold::first,
         .options = {.permits = 5, .count = count}});
  };
  const auto first = permits(2);
  const auto more = permits(3);
  server.run(first->ask());
  server.run(more->ask());
  REQUIRE(server.cli({"GET", "k"}) == "2");
  SUBCASE("the one with more goes last") {
    CHECK(server.release(*first) == Released::How::still_held);
    CHECK(server.cli({"GET", "k"}) == "2");
    CHECK(server.renews(*more));
    CHECK(server.release(*more) == Released::How::yes);
  }
  SUBCASE("the one with more is undone") {
    server.run(*more->undo(Wake::waiters));
    CHECK(server.cli({"GET", "k"}) == "2");
    CHECK(server.renews(*first));
    CHECK(server.release(*first) == Released::How::yes);
  }
  SUBCASE("the one with more goes first") {
    CHECK(server.release(*more) == Released::How::still_held);
    CHECK(server.renews(*first));
    CHECK(server.release(*first) == Released::How::yes);
  }
  CHECK(server.cli({"GET", "k"}) == "5");
}

TEST_CASE("a late copy of a release that kept the key leaves the owner's next hold") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    HoldServer server;
    const auto first = named(type, kOuterLease);
    const auto second = named(type, kInnerLease);
    server.run(first->ask());
    const std::string note = "redisson_unlock_latch:{k}:keep";  // an inner hold with --min-hold has left it
    server.cli({"SET", note, fmt::format("{}\n{}", kMe.str(), (server.time() + kOuterLease).count())});
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
           .hold = again ? Hold::another : Hold::first});
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
