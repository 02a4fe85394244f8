// A copy of a call can stay on its way, in a connection that was given up, and be
// executed when its owner has done other things since. Whatever call it is and whenever
// it comes: it never lowers the count or the lease of another hold of that owner.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cmd/run/lock_types.h"
#include "support/direct.h"
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
constexpr Milliseconds kMeanwhile{1000};  ///< a lease may have run so much between two looks

std::unique_ptr<Lockable> make(std::string_view type, const Owner& owner, Milliseconds lease,
                               bool again = false, bool owner_returns = false) {
  return find_lock_type(type)->make(
      {.claim = {.name = kKey, .owner = owner, .lease = lease, .owner_returns = owner_returns},
       .again = again,
       .permits = type == "permit" ? std::optional<std::int64_t>{1} : std::nullopt});
}

/// What one owner has.
struct Has {
  std::int64_t holds = 0;
  Milliseconds rest{0};
};

/// One server, and what is done to it.
struct History {
  RedisServer server;
  Direct redis{server};

  std::string run(const Call& call) { return written(redis.run(call)); }
  std::string cli(const std::vector<std::string>& words) { return redis.run(command(words)).text(); }
  Milliseconds pttl(const std::string& key) {
    return Milliseconds{redis.run(command({"PTTL", key})).integer()};
  }

  /// What the evidence of `lock` shows.
  Has has(const Lockable& lock) {
    const Evidence evidence = lock.evidence();
    const std::string& key = evidence.key;
    const std::string& member = evidence.member;
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
    const Reply time = redis.run(command({"TIME"}));
    const std::int64_t now = std::stoll(time.at(0).text()) * 1000 + std::stoll(time.at(1).text()) / 1000;
    return {1, Milliseconds{std::stoll(permits.at(1).text()) - now}};
  }
};

struct Step {
  const char* what;
  Call call;
};

/// Executes `steps`, and after each of them a copy of one that came before.
void copy_in_between(const std::vector<Step>& steps, const Lockable& looked_at,
                     const std::vector<Call>& at_last) {
  History history;
  for (std::size_t late = 0; late < steps.size(); ++late) {
    for (std::size_t after = late; after < steps.size(); ++after) {
      CAPTURE(steps[late].what);
      CAPTURE(steps[after].what);
      history.cli({"FLUSHALL"});
      for (std::size_t i = 0; i <= after; ++i) history.run(steps[i].call);
      const Has before = history.has(looked_at);
      history.run(steps[late].call);
      const Has now = history.has(looked_at);
      if (before.holds > 0) {
        CHECK(now.holds == before.holds);
        CHECK(now.rest + kMeanwhile > before.rest);
      }

      for (std::size_t i = after + 1; i < steps.size(); ++i) history.run(steps[i].call);
      for (const Call& call : at_last) history.run(call);
      const Has left = history.has(looked_at);
      // When the outer hold has ended before the inner one its
      // acquire can come after both: it ends with its lease.
      const bool taken_by_nobody = late == 0 && after == steps.size() - 1 && left.rest <= kOuterLease;
      CHECK((left.holds == 0 || taken_by_nobody));
    }
  }
}

const std::vector<std::string> kCounted{"lock", "fair", "fenced", "spin", "read", "write"};
const std::vector<std::string> kAll{"lock", "fair", "fenced", "spin", "read", "write", "plain", "permit"};

}  // namespace

TEST_CASE("no late copy touches the hold inside, whether the outer one lives or has ended") {
  for (const std::string& type : kCounted) {
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

TEST_CASE("a hold inside another that is not counted keeps its longer lease") {
  for (const std::string type : {"plain", "permit"}) {
    CAPTURE(type);
    const auto outer = make(type, kMe, kOuterLease);
    const auto inner = make(type, kMe, kInnerLease, /*again=*/true);
    copy_in_between({{"outer acquire", outer->ask()},
                     {"inner acquire", inner->ask()},
                     {"outer renew", outer->renew()},
                     {"inner renew", inner->renew()},
                     {"inner release", inner->release({})},
                     {"outer renew", outer->renew()},
                     {"outer release", outer->release({})}},
                    *outer, {outer->release({})});
  }
}

TEST_CASE("a hold inside that is undone after the outer one has ended leaves nothing behind") {
  for (const std::string& type : kCounted) {
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

TEST_CASE("a waiter is told when the undo of the hold inside is what frees the lock") {
  for (const std::string& type : kCounted) {
    CAPTURE(type);
    History history;
    const auto outer = make(type, kMe, kOuterLease);
    const auto inner = make(type, kMe, kInnerLease, /*again=*/true);
    for (const Call& call : {outer->ask(), inner->ask(), outer->release({})}) history.run(call);
    CHECK(released(inner->read_release(history.redis.run(*inner->undo(Wake::waiters)))).how ==
          Released::How::yes);
    CHECK(history.cli({"EXISTS", "k"}) == "0");
  }
}

TEST_CASE("a repeated acquire of the hold inside renews the lease as the first did") {
  for (const std::string& type : kCounted) {
    CAPTURE(type);
    History history;
    const auto outer = make(type, kMe, kOuterLease);
    const auto inner = make(type, kMe, kOuterLease, /*again=*/true);
    history.run(outer->ask());
    history.run(inner->ask());
    history.cli({"PEXPIRE", "k", "2000"});
    history.cli({"PEXPIRE", "{k}:me:1:rwlock_timeout:1", "2000"});

    history.run(inner->ask());
    CHECK(history.has(*outer).holds == 2);
    CHECK(history.has(*outer).rest + kMeanwhile > kOuterLease);
  }
}

TEST_CASE("an owner that was named by the user keeps its second hold, whatever is left of the first") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    const auto first = make(type, kMe, kOuterLease, false, /*owner_returns=*/true);
    const auto second = make(type, kMe, kInnerLease, false, /*owner_returns=*/true);
    const auto release = make(type, kMe, kOuterLease, false, /*owner_returns=*/true);
    copy_in_between({{"first acquire", first->ask()},
                     {"first renew", first->renew()},
                     {"first release", release->release({})},
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

TEST_CASE("the undo of an acquire leaves what its owner had before") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    History history;
    const auto before = make(type, kMe, kInnerLease, false, /*owner_returns=*/true);
    const auto again = make(type, kMe, kOuterLease, false, /*owner_returns=*/true);
    history.run(before->ask());
    history.run(again->ask());
    history.run(*again->undo(Wake::waiters));
    CHECK(history.has(*before).holds == 1);
    CHECK(history.has(*before).rest + kMeanwhile > kInnerLease);
  }
}

TEST_CASE("an undo that overtakes its acquire lets that take nothing") {
  for (const std::string& type : kAll) {
    CAPTURE(type);
    History history;
    const auto lock = make(type, kMe, kOuterLease, false, /*owner_returns=*/true);
    history.run(*lock->undo(Wake::waiters));
    history.run(lock->ask());
    CHECK(history.has(*lock).holds == 0);
  }
}

TEST_CASE("a late copy of the acquire of several keys gives back none that is held since") {
  for (const std::string type : {"lock", "fair", "fenced", "read", "write", "plain"}) {
    CAPTURE(type);
    History history;
    const auto member = [&](const char* name, const Owner& owner, bool again = false) {
      return find_lock_type(type)->make(
          {.claim = {.name = LockName{name}, .owner = owner, .lease = kOuterLease}, .again = again});
    };
    const auto a = member("k", kMe), b = member("other", kMe);
    const std::vector<const Lockable*> members{a.get(), b.get()};
    const auto together = Together::of(members);
    history.run(together->ask());
    const auto inner = member("k", kMe, /*again=*/true);
    history.run(inner->ask());
    history.run(b->release({}));
    history.run(member("other", kOther)->ask());
    const Has before = history.has(*a);

    history.run(together->ask());
    CHECK(history.has(*a).holds == before.holds);
    history.run(a->release({}));
    history.run(together->ask());
    CHECK(history.has(*a).holds == std::max<std::int64_t>(before.holds - 1, 0));
  }
}

TEST_CASE("a late copy of the acquire of a fair lock leaves nothing for ever") {
  History history;
  const auto mine = make("fair", kMe, kOuterLease);
  const auto other = make("fair", kOther, kOuterLease);
  history.run(mine->ask());
  history.run(mine->release({}));
  history.run(other->ask());
  history.run(mine->ask());  // late: it takes a place
  REQUIRE(history.cli({"LLEN", "redisson_lock_queue:{k}"}) == "1");

  SUBCASE("the release behind it removes the place") {
    history.run(mine->release({}));
    CHECK(history.cli({"EXISTS", "redisson_lock_queue:{k}"}) == "0");
    CHECK(history.cli({"EXISTS", "redisson_lock_timeout:{k}"}) == "0");
  }
  SUBCASE("else the queue goes by itself") {
    history.run(other->release({}));
    for (const char* key : {"redisson_lock_queue:{k}", "redisson_lock_timeout:{k}"}) {
      CHECK(history.pttl(key) > 0ms);
    }
  }
}
