#include "sync/hold/lease.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "support/dice.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

constexpr Milliseconds kKillAfter = 5s;

Budget plan(Milliseconds lease, std::optional<Milliseconds> lost_grace = {}, bool renews = true) {
  return plan_budget({.lease = lease, .lost_grace = lost_grace, .kill_after = kKillAfter, .renews = renews});
}

bool fits(Milliseconds lease, std::optional<Milliseconds> lost_grace, bool renews = true) {
  try {
    plan(lease, lost_grace, renews);
    return true;
  } catch (const Error& error) {
    CHECK(error.kind() == Error::config);
    return false;
  }
}

/// The message about a budget that does not fit, and the lease that it proposes.
struct Refusal {
  std::string text;
  Milliseconds remedy{0};
};

Refusal refusal(Milliseconds lease, std::optional<Milliseconds> lost_grace, bool renews = true) {
  try {
    plan(lease, lost_grace, renews);
  } catch (const Error& error) {
    const std::string text = error.what();
    const auto needs = text.find("needs ");
    if (needs == std::string::npos) return {text};
    const std::string option = "needs --lease ";  // the wording of the message about --lost-grace
    const auto at = needs + (text.find(option, needs) == needs ? option.size() : 6);
    return {text, parse_duration(text.substr(at, text.find(' ', at) - at))};
  }
  return {"fits"};
}

}  // namespace

TEST_CASE("the budget of thirty seconds is the one of the manual") {
  const Budget budget = plan(30s);

  CHECK(
      budget.str() ==
      "lease 30s · renews every 10s · survives 14.4s without Redis · stops the command at 24.4s, kills it at 29.4s");
  CHECK(budget.drift == 300ms);
  CHECK(budget.margin == 300ms);
  CHECK(budget.lost_grace == 5s);
  CHECK(budget.retry_every == 1s);
  CHECK(budget.try_for == 7200ms);
}

TEST_CASE("small leases have floors under drift, margin and tries") {
  const Budget budget = plan(1s);

  CHECK(budget.drift == 10ms);
  CHECK(budget.margin == 250ms);
  CHECK(budget.lost_grace == 166ms);  // five seconds do not fit: a sixth of the lease
  CHECK(budget.retry_every == 50ms);
  CHECK(budget.try_for == 120ms);
  CHECK(plan(774ms).drift == 8ms);
  CHECK(plan(600ms, 0ms, true).try_for == 72ms);
}

TEST_CASE("a hold that others may cut short is renewed within their time, and no try takes longer") {
  const Budget budget = plan_budget({.lease = 10min, .kill_after = kKillAfter, .renew_within = 10s});
  CHECK(budget.renew_every == 10s);
  CHECK(budget.try_for == 10s);
  CHECK(budget.stop_after() == plan(10min).stop_after());
  CHECK(plan_budget({.lease = 6s, .kill_after = kKillAfter, .renew_within = 10s}).renew_every == 2s);
}

TEST_CASE("a given grace that does not fit names the lease that it needs") {
  CHECK(refusal(30s, 60s).text == "--lost-grace 60s needs --lease 2m5s or more");
  CHECK(fits(125s, 60s));
  CHECK_FALSE(fits(124s, 60s));
}

TEST_CASE("a lease that is too short for any command names one that is not") {
  CHECK(refusal(500ms, std::nullopt).text ==
        "--lease 500ms leaves no time to stop the command before the lock can end; it needs 774ms or more");
  CHECK(fits(774ms, std::nullopt));
  CHECK_FALSE(fits(773ms, std::nullopt));
  CHECK_FALSE(fits(1ms, std::nullopt));
}

TEST_CASE("a grace that fits no lease gets the longest lease as the remedy") {
  CHECK(refusal(30s, kLongest).text == "--lost-grace 3650d is longer than the longest lease (3650d) allows");
}

TEST_CASE("a kill-after of any length is no reason to refuse") {
  const Budget budget = plan_budget({.lease = 30s, .kill_after = kLongest});
  CHECK(budget.lost_grace == 5s);  // a sixth of the lease
}

TEST_CASE("without renewals only the stop must lie after the start") {
  const Budget budget = plan(10s, 9s, false);
  CHECK(budget.stop_after() == 650ms);
  CHECK(budget.str() == "lease 10s · is not renewed · stops the command at 650ms, kills it at 9.7s");
  CHECK_FALSE(fits(10s, 9s, true));
  CHECK(refusal(5s, 9s, false).text == "--lost-grace 9s needs --lease 10s or more");
}

TEST_CASE("the moments of a lease count from a time before the acquire was written") {
  const TimePoint asked = Clock::now();
  const Lease lease{asked, plan(30s)};

  CHECK(lease.stop_at() == asked + 24400ms);
  CHECK(lease.kill_at() == asked + 29400ms);
  CHECK(lease.valid_until() == asked + 29700ms);
}

TEST_CASE("every budget that fits keeps its promises, and every remedy is the shortest one") {
  Dice dice{20240609};
  for (int round = 0; round < 3000; ++round) {
    const Milliseconds lease{1 + dice.below(dice.coin() ? 3'000 : 400'000)};
    const Milliseconds grace{dice.below(dice.coin() ? 2'000 : 200'000)};
    const auto given = dice.coin() ? std::optional{grace} : std::nullopt;
    const bool renews = dice.coin();
    CAPTURE(lease.count());
    CAPTURE(grace.count());
    CAPTURE(given.has_value());
    CAPTURE(renews);

    if (fits(lease, given, renews)) {
      const Budget budget = plan(lease, given, renews);
      CHECK(budget.drift >= 2ms);
      CHECK(100 * budget.drift >= lease);
      CHECK(budget.margin >= 250ms);
      CHECK(budget.kill_after() + budget.margin + budget.drift == lease);
      CHECK(budget.stop_after() <= budget.kill_after());
      CHECK(budget.retry_every > 0ms);
      const Milliseconds rounding = 3ms;
      if (renews) CHECK(budget.stop_after() - budget.renew_every + rounding >= lease / 6);
      if (!renews) CHECK(budget.stop_after() >= 0ms);
      continue;
    }
    const Refusal refused = refusal(lease, given, renews);
    const Milliseconds step = refused.remedy > 1s ? 1000ms : 1ms;
    CAPTURE(refused.text);
    CHECK(refused.remedy > lease);
    CHECK(fits(refused.remedy, given, renews));
    if (refused.remedy != 1s) CHECK_FALSE(fits(refused.remedy - step, given, renews));
  }
}
