#include "sync/wait/outage.h"

#include <doctest/doctest.h>

#include "support/now.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

const AcquireOptions kOptions{.first_contact = 5000ms, .outage = 30000ms};

}  // namespace

TEST_CASE("without an outage a wait has no limit, and one that begins now has one") {
  const Outage outage{kOptions};
  CHECK(outage.limit() == kNever);
  CHECK(outage.limit_of(kNow) == kNow + 5000ms);
}

TEST_CASE("an outage counts from its first failure") {
  Outage outage{kOptions};
  outage.begin(kNow);
  outage.begin(kNow + 1000ms);
  CHECK(outage.limit() == kNow + 5000ms);
  CHECK(outage.limit_of(kNow + 1000ms) == kNow + 5000ms);
}

TEST_CASE("after the first answer of a server an outage has the other limit, and begins anew") {
  Outage outage{kOptions};
  outage.begin(kNow);
  outage.end();
  CHECK(outage.limit() == kNever);
  outage.begin(kNow + 1000ms);
  CHECK(outage.limit() == kNow + 31000ms);
}
