// What a waiter in a line listens to, and what each message makes it do.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/line_claim.h"
#include "sync/calls/line.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

Message says(const std::string& channel, std::string text) { return {Channel{channel}, std::move(text)}; }

Busy in_place(std::int64_t place) { return {.position = place}; }

}  // namespace

TEST_CASE(
    "only the first two of a line listen to the releases of other clients, and all hear of a line that begins") {
  const Line line{waiting("me:1"), Channel{kLockChannel}};
  const Channel own{kLockChannel + ":me:1"}, all{kLockChannel + ":"};
  CHECK(line.channels(in_place(1)) == std::vector{own, all, Channel{kLockChannel}});
  CHECK(line.channels(in_place(2)) == std::vector{own, all, Channel{kLockChannel}});
  CHECK(line.channels(in_place(3)) == std::vector{own, all});
  CHECK(line.channels(Busy{}) == std::vector{Channel{kLockChannel}});
}

TEST_CASE(
    "a chosen waiter asks at once; after a release by another client the second waiter steps in for a frozen first") {
  const Line line{waiting("me:1"), Channel{kLockChannel}};
  CHECK(line.read_notice(says(kLockChannel + ":me:1", "0"), in_place(7)).ask_after == 0ms);
  CHECK(line.read_notice({Channel{kLockChannel + ":me:1"}, std::nullopt}, in_place(2)).ask_after == 0ms);
  CHECK(line.read_notice({Channel{kLockChannel + ":me:1"}, std::nullopt}, in_place(7)).ask_after == 4ms);
  CHECK(line.read_notice(says(kLockChannel, "0"), in_place(1)).ask_after == 0ms);
  CHECK(line.read_notice(says(kLockChannel, "0"), in_place(2)).ask_after == 300ms);
  CHECK_FALSE(line.read_notice({Channel{kLockChannel}, std::nullopt}, in_place(2)).ask_after);
  CHECK_FALSE(line.read_notice(says(kLockChannel, "0"), in_place(3)).ask_after);
}

TEST_CASE("when a line begins, waiters of a lost line ask one after the other") {
  const Line line{waiting("me:1"), Channel{kLockChannel}};
  CHECK(line.read_notice(says(kLockChannel + ":", "0"), in_place(7)).ask_after == 4ms);
  CHECK_FALSE(line.read_notice({Channel{kLockChannel + ":"}, std::nullopt}, in_place(7)).ask_after);
}

TEST_CASE(
    "after a failover the first two ask at once, and a server gets no more than 2,000 waiters a second") {
  CHECK(Line::pause_behind_others(Busy{}) == 0ms);
  CHECK(Line::pause_behind_others(in_place(1)) == 0ms);
  CHECK(Line::pause_behind_others(in_place(2)) == 0ms);
  CHECK(Line::pause_behind_others(in_place(3)) == 2ms);
  CHECK(Line::pause_behind_others(in_place(10'000)) == 5000ms);
  CHECK(Line::pause_behind_others(in_place(100'000)) == 50'000ms);
  CHECK(Line::pause_behind_others(in_place(std::numeric_limits<std::int64_t>::max())) == 50'000ms);
}

TEST_CASE("a waiter that moves up learns its place and when the lease ends") {
  const Line line{waiting("me:1"), Channel{kLockChannel}};
  Busy place = in_place(3);
  const TimePoint now = Clock::now();

  const Line::Notice second = line.read_notice(says(kLockChannel + ":me:1", "2 500"), place);
  REQUIRE(second.place == 2);
  CHECK_FALSE(second.ask_after);
  Line::move_up(place, second, now);
  CHECK(place.position == 2);
  CHECK(place.retry_after == 700ms);  // if the first waiter is frozen, the second asks after it
  CHECK(place.rest == 500ms);
  CHECK(place.seen_at == now);

  Line::move_up(place, line.read_notice(says(kLockChannel + ":me:1", "1 -1"), place), now);
  CHECK(place.position == 1);
  CHECK(place.no_ttl);
  CHECK(place.retry_after == 2000ms);
}

TEST_CASE("an impossible place or lease in a message makes no waiter ask later than its pace") {
  const Line line{waiting("me:1"), Channel{kLockChannel}};
  const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
  Busy place = in_place(3);
  for (const auto& [text, retry] :
       {std::pair{most + " 0", 120'000ms}, {most + " " + most, 120'000ms}, {"2 " + most, 4000ms}}) {
    CAPTURE(text);
    Line::move_up(place, line.read_notice(says(kLockChannel + ":me:1", text), place), Clock::now());
    CHECK(place.retry_after == retry);
    CHECK(place.rest <= kLongest);
  }
}

TEST_CASE("a waiter that is told to come later leaves the release to others for a moment") {
  const Line line{waiting("me:1"), Channel{kLockChannel}};
  const Line::Notice heard = line.read_notice(says(kLockChannel + ":me:1", "later 10"), in_place(1));
  CHECK(heard.ask_after == 10ms);
  CHECK(heard.not_before);
  CHECK(line.read_notice(says(kLockChannel + ":me:1", "later 60000"), in_place(1)).ask_after == 0ms);
  CHECK(line.read_notice(says(kLockChannel + ":me:1", "later x"), in_place(1)).ask_after == 0ms);
}

TEST_CASE("an unknown message is a reason to ask") {
  const Line line{waiting("me:1"), Channel{kLockChannel}};
  for (const std::string text : {"", "1", "0 5", "-1 5", "x y", "1 2 3", "99999999999999999999 1"}) {
    CAPTURE(text);
    const Line::Notice heard = line.read_notice(says(kLockChannel + ":me:1", text), in_place(3));
    CHECK(heard.ask_after == 0ms);
    CHECK_FALSE(heard.place);
  }
}
