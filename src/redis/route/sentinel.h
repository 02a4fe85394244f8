#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "redis/connection/backoff.h"
#include "redis/connection/link.h"
#include "redis/connection_number.h"
#include "redis/route/confirmation.h"
#include "redis/route/primary_search.h"
#include "redis/route/route.h"

namespace rlock {

/// The primary that the Sentinels name. They are asked again if the connection to the primary is lost or leads to a
/// replica. A call also asks them if their last answer is half a second old, and waits for the next one. The reason:
/// after a failover, the old primary still acts as a primary for about ten seconds, and so does one that was frozen.
/// The named server is asked for its role before it gets a call, because a replica would report old locks.
class Sentinel final : public Route {
 public:
  Sentinel(Loop& loop, const Target& target, const Timeouts& timeouts);

  Choice connection_for(std::string_view key, TimePoint now) override;
  bool connecting() const override { return state_ != State::resting && state_ != State::leading; }
  std::string connecting_to() const override;
  TimePoint next_attempt() const override { return backoff_.next(); }
  Verdict judge(ConnectionNumber connection, const Reply& error, std::string_view key,
                TimePoint now) override;
  std::set<std::string> run_ids() const override;
  void abandon(ConnectionNumber connection, TimePoint now) override;
  void send_on_abandoned(const std::vector<Call>& calls) override;
  Connection* find(ConnectionNumber connection) override;
  bool contacted() const override { return contacted_; }
  std::string server_of(ConnectionNumber connection) override;
  std::uint64_t losses() const override { return old_losses_ + (link_ ? link_->losses() : 0); }
  void watch(const Channel& channel) override;
  void unwatch(const Channel& channel) override;
  std::uint64_t wakeups() const override { return old_wakeups_ + (link_ ? link_->wakeups() : 0); }
  std::vector<Message> take_messages() override;
  const std::optional<std::string>& subscribe_error() const override;
  std::string str() const override { return target_.str(); }

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  enum class State { resting, searching, checking, confirming, leading };

  void search(TimePoint now);
  void advance(TimePoint now);
  void follow_search(TimePoint now);
  void take_confirmation(TimePoint now);
  void begin_to_confirm(TimePoint now);
  void confirm(TimePoint until);
  void check(TimePoint now);
  void lead();
  void reject_primary(Failure why, TimePoint now);
  void fail(Failure why, TimePoint now);
  void retire(TimePoint now);
  bool leads() const;
  std::string primary_text() const;

  Loop& loop_;
  const Target target_;
  const std::shared_ptr<const TlsContext> tls_;
  const Timeouts timeouts_;
  PrimarySearch search_;
  Backoff backoff_;
  State state_ = State::resting;
  bool asks_again_ = false;  ///< the Sentinels are being asked, between calls or during the check
  Confirmation confirmation_;
  TimePoint confirm_until_ = kNever;
  std::unique_ptr<Link> link_;                         ///< to the named server
  Address primary_;                                    ///< the last primary that was confirmed
  std::vector<std::unique_ptr<Link>> retired_;         ///< for calls on their abandoned connections
  ConnectionNumber checked_ = ConnectionNumber::none;  ///< on which the named server was asked for its role
  std::shared_ptr<InFlightCall> role_;
  TimePoint check_ends_ = kNever;
  std::set<Channel> watched_;
  std::uint64_t old_wakeups_ = 0, old_losses_ = 0;  ///< sums over retired links
  std::optional<Failure> failure_;
  bool failure_is_news_ = false;
  bool contacted_ = false;
  Membership membership_{loop_, *this};
};

}  // namespace rlock
