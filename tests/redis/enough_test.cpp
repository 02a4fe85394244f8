#include "redis/enough.h"

#include <doctest/doctest.h>

#include "support/now.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

TEST_CASE("when a call is decided, the slower nodes get a while longer, counted from that time") {
  Enough enough{200ms};
  CHECK(enough.from(false, kNow) == kNever);
  CHECK(enough.from(true, plus(kNow, 50ms)) == plus(kNow, 250ms));
  CHECK(enough.from(true, plus(kNow, 100ms)) == plus(kNow, 250ms));
}

TEST_CASE(
    "when a call is decided, the slower nodes get as much time again as it has taken, and at least 5 ms") {
  Enough quick = equal_grace(kNow), slow = equal_grace(kNow);
  CHECK(quick.from(false, kNow) == kNever);
  CHECK(quick.from(true, kNow) == plus(kNow, 5ms));
  CHECK(slow.from(true, plus(kNow, 100ms)) == plus(kNow, 205ms));
  CHECK(slow.from(true, plus(kNow, 150ms)) == plus(kNow, 205ms));
}
