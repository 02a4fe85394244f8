#include "sync/watch/inspection.h"

#include <doctest/doctest.h>

using namespace rlock;

namespace {

constexpr ServerTime kLookedAt{Milliseconds{100000}};

/// A holder that renewed its lease of 30 s five seconds ago.
Holder holder() {
  Metadata facts;
  facts.lease = Milliseconds{30000};
  facts.renewed = kLookedAt - Milliseconds{5000};
  Holder holder{.owner = Owner{"me:1"}, .ttl = Milliseconds{25000}};
  holder.facts = facts;
  return holder;
}

Holder not_renewing() {
  Holder one = holder();
  one.facts->renews = false;
  return one;
}

Holder without_facts() {
  Holder one = holder();
  one.facts.reset();
  return one;
}

Holder ended(Holder one) {
  one.facts->ended_at = kLookedAt - Milliseconds{1000};
  return one;
}

}  // namespace

TEST_CASE("a holder is alive if it has renewed its lease in time, as far as its facts tell") {
  CHECK(holder().alive(kLookedAt) == true);
  Holder late = holder();
  late.facts->renewed = kLookedAt - Milliseconds{15000};
  CHECK(late.alive(kLookedAt) == true);
  late.facts->renewed = kLookedAt - Milliseconds{15001};
  CHECK(late.alive(kLookedAt) == false);
  CHECK_FALSE(without_facts().alive(kLookedAt));
  CHECK_FALSE(not_renewing().alive(kLookedAt));
  CHECK_FALSE(ended(holder()).alive(kLookedAt));
  Holder endless = holder();
  endless.facts->lease = Milliseconds{0};
  CHECK_FALSE(endless.alive(kLookedAt));
}

TEST_CASE("a run may have entered a hold that no process renews, if it lasts longer than its facts say") {
  CHECK_FALSE(not_renewing().entered(kLookedAt));
  Holder longer = not_renewing();
  longer.ttl = Milliseconds{25100};  // the server looked at the TTL a moment before it looked at its clock
  CHECK_FALSE(longer.entered(kLookedAt));
  longer.ttl = Milliseconds{25101};
  CHECK(longer.entered(kLookedAt));
  CHECK_FALSE(ended(longer).entered(kLookedAt));
  Holder reads = longer;
  reads.mode = Holder::Mode::read;  // its key lasts as long as the longest lease of its readers
  CHECK_FALSE(reads.entered(kLookedAt));
  Holder endless = longer;
  endless.facts->lease = Milliseconds{0};
  CHECK_FALSE(endless.entered(kLookedAt));
  Holder kept = longer;
  kept.ttl.reset();
  CHECK_FALSE(kept.entered(kLookedAt));
}

TEST_CASE("a run has entered a hold that counts twice, unless a process renews it or its end is known") {
  const auto twice = [](Holder one) {
    one.count = 2;
    return one.entered(kLookedAt);
  };
  CHECK(twice(not_renewing()));
  CHECK_FALSE(twice(holder()));
  CHECK_FALSE(twice(ended(not_renewing())));
  CHECK_FALSE(twice(without_facts()));
}

TEST_CASE("the waiters are those with a place, and those that only listen") {
  const auto waiting = [](const Kind& kind, std::size_t placed, std::int64_t subscribers) {
    Inspection seen;
    seen.kind = &kind;
    seen.waiters.resize(placed);
    seen.subscribers = subscribers;
    return seen.waiting();
  };
  CHECK(waiting(kinds::lock, 5, 2) == 5);  // the first two of a line listen
  CHECK(waiting(kinds::lock, 5, 4) == 7);
  CHECK(waiting(kinds::lock, 1, 1) == 1);
  CHECK(waiting(kinds::lock, 5, 0) == 5);
  CHECK(waiting(kinds::fair, 5, 1) == 6);  // in a fair queue nobody does
  CHECK(waiting(kinds::latch, 5, 5) == 5);
  CHECK(waiting(kinds::latch, 5, 6) == 6);
}

TEST_CASE("a key is held by each of its holders, and by nobody else") {
  Inspection seen;
  seen.holders = {{.owner = Owner{"a:1"}}, {.owner = Owner{"b:1"}}};
  CHECK(seen.held_by(Owner{"a:1"}));
  CHECK(seen.held_by(Owner{"b:1"}));
  CHECK_FALSE(seen.held_by(Owner{"c:1"}));
  CHECK(seen.holder(Owner{"b:1"}) == &seen.holders[1]);
}
