#include "cmd/view/holder_text.h"

#include <doctest/doctest.h>

#include "cmd/view/wait_text.h"
#include "support/contains.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""s;

namespace {

Holder theirs() { return {.owner = Owner{"6e0f0261-922f-4ca9-9275-5cd246e2e294:57"}, .ttl = 21s}; }

/// Acquired at 1000 s of the server's clock, for 30 s.
Holder alice() {
  Metadata facts;
  facts.user = "alice";
  facts.host = "ci-7";
  facts.pid = 4121;
  facts.command = "make";
  facts.reason = "hotfix 42";
  facts.since = facts.renewed = ServerTime{1000s};
  facts.lease = 30s;
  return {.owner = Owner{"6e0f0261-922f-8ca9-9275-5cd246e2e294:1"}, .ttl = 21s, .facts = facts};
}

}  // namespace

TEST_CASE(
    "the only waiter of a free fair lock learns that it is next, and the others that the lock is kept") {
  const LockName name{"k"};
  const auto text = [&](std::int64_t position) {
    const Busy busy{.position = position, .waiters = 2, .key = name};
    return wait_text({.now = Clock::now(), .busy = busy}, Moment::waiting);
  };
  CHECK_MESSAGE(contains(text(1), ": free, and we are next in its queue; 1st of 2"), text(1));
  CHECK_MESSAGE(contains(text(2), ": free, and reserved for the first waiter in its queue; 2nd of 2"),
                text(2));
}

TEST_CASE("a wait line says that the lease has just ended, and not that it ends in 0 s") {
  const LockName name{"k"};
  const TimePoint heard = Clock::now();
  const Busy busy{.key = name, .holder = "somebody:1", .rest = Milliseconds{1000}, .seen_at = heard};
  const auto text = [&](Milliseconds later) {
    return wait_text({.now = plus(heard, later), .busy = busy}, Moment::waiting);
  };
  CHECK_MESSAGE(contains(text(Milliseconds{400}), "; expires in 600ms unless the holder renews it"),
                text(Milliseconds{400}));
  CHECK_MESSAGE(contains(text(Milliseconds{1400}), "; its lease has just ended"), text(Milliseconds{1400}));
}

TEST_CASE("a holder above us is shown as one that waits for this command, if it renews its hold") {
  const LockName name{"k"};
  const Busy busy{.key = name};
  const auto text = [&](bool renews, std::vector<Owner> above) {
    Holder holder = alice();
    holder.facts->renews = renews;
    const Inspection seen{.name = name, .holders = {holder}, .now = ServerTime{1009s}};
    return wait_text({.now = Clock::now(), .busy = busy, .seen = &seen, .above = above}, Moment::waiting);
  };
  const std::string who = "'k': held by alice@ci-7 pid 4121 for 9s (make) \"hotfix 42\"";
  CHECK(text(true, {alice().owner}) == who + ", which waits for this command");
  CHECK(text(false, {alice().owner}) ==
        who + ", a process above this one; ends in 21s, because no process renews it");
  CHECK(text(true, {theirs().owner}) == who + "; expires in 21s if the holder is dead");
}

TEST_CASE("a holder is shown as a person looks for it") {
  CHECK(holder_text(alice(), ServerTime{1723s}) == "alice@ci-7 pid 4121 for 12m03s (make) \"hotfix 42\"");
  CHECK(holder_text(alice(), std::nullopt) == "alice@ci-7 pid 4121 (make) \"hotfix 42\"");
}

TEST_CASE("a holder without metadata is named after the client that makes such owner ids") {
  CHECK(holder_text(theirs(), std::nullopt) == "6e0f02...:57 (a Redisson client)");
  Holder ours = alice();
  ours.facts.reset();
  CHECK(holder_text(ours, std::nullopt) == "6e0f02...:1 (an rlock)");
  ours.owner = Owner{"ci-42"};
  CHECK(holder_text(ours, std::nullopt) == "ci-42 (unknown)");
}

TEST_CASE("with many holders three are named, and the others counted") {
  const auto named = [](const char* owner) { return Holder{.owner = Owner{owner}}; };
  CHECK(holders_text({named("a"), named("b")}, std::nullopt) == "a (unknown) and b (unknown)");
  CHECK(holders_text({named("a"), named("b"), named("c"), named("d"), named("e")}, std::nullopt) ==
        "a (unknown), b (unknown) and c (unknown), and 2 more");
}

TEST_CASE("the end of a hold is shown as far as it is known") {
  CHECK(outlook_text(theirs(), ServerTime{1000s}) == "expires in 21s unless the holder renews it");
  CHECK(outlook_text(alice(), ServerTime{1009s}) == "expires in 21s if the holder is dead");
  Holder dead = alice();
  dead.ttl = 5s;
  CHECK(outlook_text(dead, ServerTime{1034s}) == "not renewed for 34s: the holder looks dead; expires in 5s");
  Holder lone = alice();
  lone.facts->renews = false;
  CHECK(outlook_text(lone, ServerTime{1009s}) == "ends in 21s, because no process renews it");
  // The key lasts longer than the recorded lease, so a process must have renewed it.
  CHECK(outlook_text(lone, ServerTime{1034s}) == "ends in 21s unless a run inside it renews it");
  // A key with readers lasts as long as the longest of their leases, so this shows no renewal.
  lone.mode = Holder::Mode::read;
  CHECK(outlook_text(lone, ServerTime{1034s}) == "ends in 21s, because no process renews it");
  lone.count = 2;
  CHECK(outlook_text(lone, ServerTime{1034s}) == "ends in 21s unless a run inside it renews it");
  Holder forever = theirs();
  forever.ttl.reset();
  CHECK(outlook_text(forever, ServerTime{1000s}) == "no TTL: the key never expires");
}

TEST_CASE("a key that only --min-hold keeps shows when and how its command ended") {
  Holder kept = alice();
  kept.facts->ended_at = ServerTime{2000s};
  kept.facts->exit = 0;
  CHECK(holder_text(kept, ServerTime{2040s}) == "alice@ci-7 (make), finished 40s ago (exit 0)");
  CHECK(outlook_text(kept, ServerTime{2040s}) == "21s more by --min-hold or --once-per");
  CHECK_FALSE(kept.stale(ServerTime{2040s}));
}

TEST_CASE("a clock that runs backwards and hostile bytes do no harm") {
  Holder hostile = alice();
  hostile.facts->user = "al\x1b[31mice";
  hostile.facts->reason = std::string(5000, 'x');
  const std::string text = holder_text(hostile, ServerTime{1s});
  CHECK_FALSE(contains(text, "\x1b"));
  CHECK(text.size() < 400);
}
