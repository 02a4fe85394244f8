// Several acquires of one owner share a hold. Each release gives up one share, and the last one frees the lock.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "cmd/hold/request/lock_types.h"
#include "support/eventually.h"
#include "support/hold_server.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

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

TEST_CASE("a copy of an acquire makes the server forget none of a hundred that share the hold") {
  HoldServer server;
  std::vector<std::shared_ptr<const Lockable>> shares;
  for (int i = 0; i < 101; ++i) {
    shares.push_back(named("lock", kOuterLease));
    server.run(shares.back()->ask());
  }
  server.run(shares.back()->ask());
  const auto last = shares.back();
  shares.pop_back();
  for (const auto& share : shares) CHECK(server.release(*share) == Released::How::still_held);
  CHECK(server.release(*last) == Released::How::yes);
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
