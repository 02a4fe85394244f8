#pragma once

#include <optional>
#include <string>

#include "base/time.h"

namespace rlock {

/// The plan for the time of one lease. It is pure arithmetic, and is checked before rlock sends anything.
///
///   asked ──renew──renew──renew?──┬ stop_after ──lost_grace──┬ kill_after ──margin──┬ valid_for ──drift──┬ lease
///                                 SIGTERM                    SIGKILL                we may act no longer
struct Budget {
  Milliseconds lease;
  /// The longer of 1 % of the lease and 2 ms: how far the server's clock may run ahead of ours during a lease.
  Milliseconds drift;
  Milliseconds margin;      ///< the longer of 1 % of the lease and 250 ms: for KILL to take effect
  Milliseconds lost_grace;  ///< the time between the stop signal and KILL after a loss
  /// A third of the lease, or LeaseTerms::renew_within if that is less: from the start of one renewal to that of the next.
  Milliseconds renew_every;
  Milliseconds retry_every;  ///< from the start of a failed renewal to that of the next: min(1 s, lease/20)
  /// How long one try may take: short enough that another try can succeed, and no longer than renew_every.
  Milliseconds try_for;
  bool renews = true;  ///< false: --no-renew

  Milliseconds valid_for() const { return lease - drift; }
  Milliseconds kill_after() const { return valid_for() - margin; }
  /// fits() in lease.cpp has this sum, too.
  Milliseconds stop_after() const { return kill_after() - lost_grace; }

  /// "lease 30s · renews every 10s · survives 14.4s without
  /// Redis · stops the command at 24.4s, kills it at 29.4s"
  std::string str() const;
};

/// See Budget::drift.
constexpr Milliseconds kLeastDrift{2};

/// A shorter lease is at no moment surely ours.
constexpr Milliseconds kShortestLease = kLeastDrift + Milliseconds{1};

/// How long a lease is surely ours, counted from the moment of asking: all of it except the drift.
Milliseconds valid_for(Milliseconds lease);

/// What a budget is made of.
struct LeaseTerms {
  Milliseconds lease;
  /// The user's value; empty: `kill_after` if it fits, else lease/6.
  std::optional<Milliseconds> lost_grace{};
  Milliseconds kill_after;
  bool renews = true;
  Milliseconds renew_within = kLongest;  ///< the longest interval: other holders may cut the TTL
};

/// Plans a budget. At least lease/6 must lie between the renewal at lease/3 and the stop signal; without renewals, the
/// stop must lie after the start. Otherwise throws Error{config} that names the remedy: "--lost-grace 60s needs
/// --lease 2m5s or more".
Budget plan_budget(const LeaseTerms& terms);

/// How long we may rely on a hold. `asked` is the time before the call was written.
struct Lease {
  TimePoint asked;
  Budget budget;

  TimePoint valid_until() const { return plus(asked, budget.valid_for()); }
  TimePoint stop_at() const { return plus(asked, budget.stop_after()); }
  TimePoint kill_at() const { return plus(asked, budget.kill_after()); }
};

}  // namespace rlock
