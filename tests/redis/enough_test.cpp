#include "redis/enough.h"

#include <doctest/doctest.h>

#include "support/now.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

Votes votes(std::size_t good) {
  Votes votes(3);
  for (std::size_t node = 0; node < good; ++node) votes[node].result = Reply{1};
  return votes;
}

}  // namespace

TEST_CASE("when enough nodes have answered, the others get a while longer, counted from that time") {
  Enough enough{2, 200ms};
  CHECK(enough(votes(1), kNow) == kNever);
  CHECK(enough(votes(2), plus(kNow, 50ms)) == plus(kNow, 250ms));
  CHECK(enough(votes(3), plus(kNow, 100ms)) == plus(kNow, 250ms));
}

TEST_CASE("a question is decided when enough nodes say yes, or when too few can still say it") {
  CHECK_FALSE(Tally{.yes = 1, .open = 1}.is_decided(2));
  CHECK(Tally{.yes = 2, .open = 1}.is_decided(2));
  CHECK(Tally{.yes = 2, .open = 1}.has(2));
  CHECK(Tally{.yes = 1, .open = 0}.is_decided(2));
  CHECK_FALSE(Tally{.yes = 1, .open = 0}.can_have(2));
}

TEST_CASE("an error is a reply, a failure is none, and a node that has said nothing is open") {
  Votes mixed(4);
  mixed[0].result = Reply{1};
  mixed[1].result = Reply::error("ERR no");
  mixed[2].result = Failure{Error::unreachable, "silent"};
  CHECK(tally_replies(mixed).yes == 2);
  CHECK(tally_replies(mixed).open == 1);
}

TEST_CASE("an answer that is an error decides nothing") {
  Votes one = votes(1);
  one[1].result = Reply::error("ERR no");
  CHECK(Enough{2, 0ms}(one, kNow) == kNever);
}

TEST_CASE(
    "when a call is decided, the slower nodes get as much time again as it has taken, and at least 5 ms") {
  Enough quick = equal_grace(kNow), slow = equal_grace(kNow);
  CHECK(quick.from(false, kNow) == kNever);
  CHECK(quick.from(true, kNow) == plus(kNow, 5ms));
  CHECK(slow.from(true, plus(kNow, 100ms)) == plus(kNow, 205ms));
  CHECK(slow.from(true, plus(kNow, 150ms)) == plus(kNow, 205ms));
}
