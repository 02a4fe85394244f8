#include "sync/hold/lease.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/as_given.h"
#include "base/error.h"
#include "sync/calls/renewal_interval.h"

namespace rlock {
namespace {

using namespace std::chrono_literals;

constexpr Milliseconds kShortestTry{50};

/// See Budget::margin.
constexpr Milliseconds kLeastMargin{250};

/// One hundredth, rounded up, because a reserve must never be too small.
Milliseconds percent(Milliseconds lease) { return Milliseconds{(lease.count() + 99) / 100}; }

Milliseconds drift_of(Milliseconds lease) { return std::max(percent(lease), kLeastDrift); }

Budget spend(const LeaseTerms& terms, Milliseconds lost_grace) {
  const Milliseconds lease = terms.lease;
  Budget budget{.lease = lease,
                .drift = drift_of(lease),
                .margin = std::max(percent(lease), kLeastMargin),
                .lost_grace = lost_grace,
                .renew_every = std::min(renewal_interval(lease), terms.renew_within),
                .retry_every = std::clamp(lease / 20, 1ms, 1000ms),
                .try_for = kShortestTry,
                .renews = terms.renews};
  // Half of the time from the first renewal to the stop: at least lease/12. On a slow line with a short lease a try
  // may need this half, and the next try must get as much. But a silent server must not stretch the interval.
  const Milliseconds half = (budget.stop_after() - budget.renew_every) / 2;
  budget.try_for = std::max(std::min(half, budget.renew_every), kShortestTry);
  return budget;
}

static_assert(renewal_interval(Milliseconds{600}) == Milliseconds{200}, "fits() has half a lease: 1/3 + 1/6");

/// Without renewals, the stop must lie after the start. With renewals, it must lie at least lease/6 after the
/// first renewal, so in the second half of the lease. `stop` is Budget::stop_after(). The sums are in 1/600 of
/// a millisecond, because with rounding a longer lease could be too short again. Without `lost_grace`, lease/6
/// is assumed.
bool fits(Milliseconds lease, std::optional<Milliseconds> lost_grace, bool renews) {
  const auto part = [](Milliseconds whole, int percent) { return whole.count() * 6 * percent; };
  const auto grace = lost_grace ? part(*lost_grace, 100) : lease.count() * 100;
  const auto stop = part(lease, 100) - std::max(part(lease, 1), part(kLeastDrift, 100)) -
                    std::max(part(lease, 1), part(kLeastMargin, 100)) - grace;
  return renews ? stop >= part(lease, 50) : stop > 0;
}

/// The shortest lease that fits, in the units that people type: whole seconds, or milliseconds below one
/// second. 0: no lease is long enough.
Milliseconds shortest_lease(std::optional<Milliseconds> lost_grace, bool renews) {
  if (!fits(kLongest, lost_grace, renews)) return 0ms;
  Milliseconds no = 0ms, yes = kLongest;
  while (yes - no > 1ms) {
    const Milliseconds middle = no + (yes - no) / 2;
    (fits(middle, lost_grace, renews) ? yes : no) = middle;
  }
  return yes <= 1s ? yes : std::chrono::ceil<std::chrono::seconds>(yes);
}

[[noreturn]] void refuse(Milliseconds lease, std::optional<Milliseconds> lost_grace, bool renews) {
  const Milliseconds enough = shortest_lease(lost_grace, renews);
  if (!lost_grace) {
    throw Error{
        Error::config,
        fmt::format("{} leaves no time to stop the command before the lock can end; it needs {} or more",
                    as_given("lease", fmt::format("--lease {}", exact(lease))), exact(enough))};
  }
  if (enough == 0ms) {
    throw Error{Error::config, fmt::format("--lost-grace {} is longer than the longest lease ({}) allows",
                                           exact(*lost_grace), exact(kLongest))};
  }
  const std::string configured = as_given("lease", "");
  throw Error{Error::config,
              fmt::format("--lost-grace {} needs --lease {} or more{}", exact(*lost_grace), exact(enough),
                          configured.empty() ? "" : fmt::format(" ({} is too short)", configured))};
}

}  // namespace

Milliseconds valid_for(Milliseconds lease) { return lease - drift_of(lease); }

std::string Budget::str() const {
  const std::string rhythm = renews ? fmt::format("renews every {} · survives {} without Redis",
                                                  describe(renew_every), describe(stop_after() - renew_every))
                                    : std::string{"is not renewed"};
  return fmt::format("lease {} · {} · stops the command at {}, kills it at {}", describe(lease), rhythm,
                     describe(stop_after()), describe(kill_after()));
}

Budget plan_budget(const LeaseTerms& terms) {
  std::optional<Milliseconds> lost_grace = terms.lost_grace;
  if (!lost_grace && fits(terms.lease, terms.kill_after, terms.renews)) lost_grace = terms.kill_after;
  if (!fits(terms.lease, lost_grace, terms.renews)) refuse(terms.lease, lost_grace, terms.renews);
  return spend(terms, lost_grace.value_or(terms.lease / 6));
}

}  // namespace rlock
