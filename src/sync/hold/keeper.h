#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loop/source.h"
#include "redis/connection_number.h"
#include "redis/redis.h"
#include "sync/hold/lease.h"
#include "sync/wait/acquire.h"

namespace rlock {

/// Keeps a Lease alive by renewing it as often as Budget::renew_every says. If it must not
/// renew (Budget::renews is false), it asks as often whether the lock is still ours.
///
/// stop_at() is reached before the lease can expire on the server, whatever the network does. Once lost() is
/// true, it never becomes false again, and the Keeper never acquires the key again. With several nodes, a
/// quorum must renew every part in the same try.
/// REQUIRES: the Redis outlives the Keeper.
class Keeper final : public Source {
 public:
  struct Options {
    Lease lease;
    std::vector<Part> parts;
    SyncReplicas sync_replicas{};
    /// Called when trouble begins, with the reason why a renewal failed, and when it ends, with an empty
    /// text. May be null.
    std::function<void(const std::string& problem)> report_trouble{};
  };

  Keeper(Redis& redis, Options options);

  /// Is the lock lost? The server has said that it is not ours any more, removed() was called, or the time in
  /// which we could be sure is over.
  bool lost() const noexcept { return why_.has_value(); }
  const std::string& why() const { return *why_; }          ///< REQUIRES: lost()
  bool taken_away() const noexcept { return taken_away_; }  ///< lost, because the server or removed() said so

  /// Renews or asks at once, because a message says that the lock was removed. The answer tells whether this
  /// is true. If a renewal is in flight, another one follows it, because the first may have come before the
  /// removal.
  void look_now() noexcept { looks_now_ = true; }

  /// Tells the Keeper that the lock was removed. A renewal would not show it if the owner has acquired the
  /// lock again since.
  void removed();

  /// When the command must get the stop signal, and when KILL. Both times move on with each renewal. Once
  /// lost() is true, they are in the past or near.
  TimePoint stop_at() const;
  TimePoint kill_at() const;

  /// The last confirmed lease. A guardian must know its valid_until().
  const Lease& lease() const noexcept { return options_.lease; }

  /// Ends the renewals, and awaits a renewal in flight until `patience` ends. After a release, that renewal
  /// would find no lock, and the Keeper would call it lost.
  void stop(const Patience& patience);

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  /// One renewal under way: one request for each part. With --sync-replicas, one confirmation follows for
  /// each connection that renewed something.
  struct Try {
    TimePoint asked;
    std::vector<Redis::Request> requests{};
    std::map<ConnectionNumber, Redis::Request> confirmations{};
  };
  enum class Outcome { open, renewed, failed, not_ours };

  void begin(TimePoint now);
  void advance(TimePoint now);
  Outcome outcome() const;
  Outcome outcome_of(const Lockable& lock, const Votes& votes) const;
  Outcome outcome_of(const Lockable& lock, const Vote& vote) const;
  Outcome outcome_of_confirmation(ConnectionNumber connection) const;
  void ask_for_confirmations();
  std::string why_failed() const;
  std::string lost_key() const;
  void log_renewal(const std::string& problem) const;
  void lose(std::string why, TimePoint now);

  Redis& redis_;
  Options options_;
  std::optional<std::string> why_;
  TimePoint lost_at_ = kNever;
  TimePoint next_try_;
  std::optional<Try> try_;
  std::string problem_;  ///< why the last try failed; empty: it succeeded
  bool logged_renewal_ = false;
  bool stopped_ = false;
  bool taken_away_ = false;
  bool looks_now_ = false;
  Membership membership_{redis_.loop(), *this};
};

}  // namespace rlock
