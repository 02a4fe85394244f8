#pragma once

#include <optional>
#include <string>

#include "base/time.h"

namespace rlock {

/// How the time of one lease is spent. Pure arithmetic, checked before anything is sent.
///
///   asked ──renew──renew──renew?──┬ stop_after ──lost_grace──┬ kill_after ──margin──┬ valid_for ──drift──┬ lease
///                                 SIGTERM                    SIGKILL                we may act no longer
struct Budget {
  Milliseconds lease;
  Milliseconds drift;        ///< max(1 % of lease, 2 ms): how far the server's clock may run ahead of ours
  Milliseconds margin;       ///< max(1 % of lease, 250 ms): for the kill to take effect
  Milliseconds lost_grace;   ///< between the stop signal and KILL after a loss
  Milliseconds renew_every;  ///< lease/3, from start to start
  Milliseconds retry_every;  ///< after a failed renewal: min(1 s, lease/20)
  Milliseconds try_for;      ///< how long one try may take: so long that another one can still succeed
  bool renews = true;        ///< false: --no-renew

  Milliseconds valid_for() const { return lease - drift; }
  Milliseconds kill_after() const { return valid_for() - margin; }
  Milliseconds stop_after() const { return kill_after() - lost_grace; }

  /// "lease 30s · renews every 10s · survives 14.4s without
  /// Redis · stops the command at 24.4s, kills it at 29.4s"
  std::string str() const;
};

/// So long from the moment of asking a lease is surely ours: all of it but the drift.
Milliseconds valid_for(Milliseconds lease);

/// Plans a budget. `lost_grace`: as given by the user,
/// else nothing: `kill_after` where it fits, else lease/6.
/// Throws Error{config} when it does not fit (at least lease/6 must lie between
/// the first renewal and the stop signal; without renewals the stop must lie after
/// the start), naming the remedy: "--lost-grace 60s needs --lease 2m5s or more".
Budget plan_budget(Milliseconds lease, std::optional<Milliseconds> lost_grace, Milliseconds kill_after,
                   bool renews);

/// Until when we may act on a hold. Counted from the moment before the call was written.
struct Lease {
  TimePoint asked;
  Budget budget;

  TimePoint valid_until() const { return plus(asked, budget.valid_for()); }
  TimePoint stop_at() const { return plus(asked, budget.stop_after()); }
  TimePoint kill_at() const { return plus(asked, budget.kill_after()); }
};

}  // namespace rlock
