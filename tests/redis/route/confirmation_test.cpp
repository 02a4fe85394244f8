#include "redis/route/confirmation.h"

#include <doctest/doctest.h>

using namespace rlock;
using namespace std::chrono_literals;

namespace {

/// A server that was named by the answer to a question at time 0.
Confirmation named_at_zero() {
  Confirmation confirmation;
  confirmation.asked(TimePoint{});
  confirmation.confirmed();
  return confirmation;
}

constexpr TimePoint at(Milliseconds time) { return TimePoint{time}; }

}  // namespace

TEST_CASE("an answer is believed for half a second from its question, however late it is read") {
  Confirmation confirmation = named_at_zero();
  CHECK_FALSE(confirmation.is_outdated(at(499ms)));
  CHECK(confirmation.is_outdated(at(500ms)));

  confirmation.asked(at(600ms));
  // rlock sleeps here for a minute.
  confirmation.confirmed();
  CHECK(confirmation.is_outdated(at(60s)));
}

TEST_CASE("an answer that names our server confirms the newest question only") {
  Confirmation confirmation = named_at_zero();
  confirmation.asked(at(600ms));
  CHECK(confirmation.is_outdated(at(700ms)));
  confirmation.confirmed();
  CHECK_FALSE(confirmation.is_outdated(at(1099ms)));
}

TEST_CASE("the next question is due half a second after the last one, answered or not") {
  Confirmation confirmation = named_at_zero();
  CHECK(confirmation.ask_again_at() == at(500ms));
  confirmation.asked(at(700ms));
  CHECK(confirmation.ask_again_at() == at(1200ms));
}

TEST_CASE("a call waits for an answer only if the last one is too old, and only once for each question") {
  Confirmation confirmation = named_at_zero();
  confirmation.asked(at(450ms));
  CHECK_FALSE(confirmation.hold_back(at(499ms)));
  CHECK(confirmation.hold_back(at(500ms)) == at(900ms));
  CHECK_FALSE(confirmation.hold_back(at(901ms)));  // the Sentinels are silent: the primary serves on

  confirmation.asked(at(950ms));
  CHECK(confirmation.hold_back(at(950ms)) == at(1350ms));
}

TEST_CASE("a server that no answer has named is not believed") {
  Confirmation confirmation;
  confirmation.asked(at(0ms));
  CHECK(confirmation.is_outdated(at(0ms)));
  CHECK(confirmation.hold_back(at(0ms)) == at(400ms));
}
