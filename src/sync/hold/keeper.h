#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loop/source.h"
#include "redis/redis.h"
#include "sync/hold/lease.h"
#include "sync/wait/acquire.h"

namespace rlock {

/// Keeps a Lease alive by renewing it at least three times per lease (Budget::renew_every).
///
/// stop_at() lies in the past before the lease can have expired on the server, whatever the network does.
/// Once lost() is true it never becomes false again. A lost key is never taken again. Of several nodes
/// a quorum must renew every part, in one and the same try.
/// REQUIRES: the Redis and the locks of the parts outlive the Keeper.
class Keeper final : public Source {
 public:
  struct Options {
    Lease lease;
    std::vector<Part> parts;
    int sync_replicas = 0;
    Milliseconds sync_timeout{1000};
    /// Told where trouble begins and ends: why a renewal has failed; empty: one has succeeded again. Null: nobody is.
    std::function<void(const std::string& obstacle)> tell{};
  };

  Keeper(Redis& redis, Options options);
  ~Keeper() override;

  /// The server said that it is not ours any more, or the time in which we could be sure is over.
  bool lost() const noexcept { return why_.has_value(); }
  const std::string& why() const { return *why_; }          ///< REQUIRES: lost()
  bool taken_away() const noexcept { return taken_away_; }  ///< lost, and the server has said so

  /// Somebody says that it was taken from us: a renewal now tells whether that is so, or one behind that which
  /// is in flight, since it may have come first.
  void look_now() noexcept;

  /// When the command must get the stop signal, and when KILL;
  /// in the past once lost(). Both move on with each renewal.
  TimePoint stop_at() const;
  TimePoint kill_at() const;

  /// The last confirmed lease: valid_until() is what a guardian has to be told.
  const Lease& lease() const noexcept { return options_.lease; }

  /// No more renewals; one in flight is awaited at most `patience`,
  /// since it would find the lock gone and call it lost.
  void stop(const Patience& patience);

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  /// One renewal under way: of each part a request, and where replicas are
  /// wanted, then of each connection that has renewed something a confirmation.
  struct Try {
    TimePoint asked;
    std::vector<Redis::Request> requests{};
    std::map<std::uint64_t, Redis::Request> confirmations{};
  };
  enum class Outcome { open, renewed, failed, not_ours };

  void begin(TimePoint now);
  void advance(TimePoint now);
  Outcome outcome() const;
  Outcome outcome_of(const Lockable& lock, const Votes& votes) const;
  Outcome outcome_of(const Lockable& lock, const Vote& vote) const;
  Outcome outcome_of_confirmation(std::uint64_t connection) const;
  void ask_for_confirmations();
  std::string obstacle() const;
  void say(const std::string& obstacle) const;
  void lose(std::string why, TimePoint now);

  Redis& redis_;
  Options options_;
  std::optional<std::string> why_;
  TimePoint lost_at_ = kNever;
  TimePoint next_try_;
  std::optional<Try> try_;
  std::string obstacle_;  ///< why the last try came to nothing
  bool said_renewed_ = false;
  bool stopped_ = false;
  bool taken_away_ = false;
  bool looks_now_ = false;
};

}  // namespace rlock
