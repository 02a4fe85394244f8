#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loop/source.h"
#include "redis/mailbox.h"
#include "redis/redis.h"
#include "sync/wait/acquire_request.h"

namespace rlock {

/// A run starts to listen for `rlock stop` this long after its acquire. Most runs are over by then, and should not cost
/// the server a subscription.
constexpr Milliseconds kListensAfter{1000};

/// Receives the messages of `rlock stop`, `rlock unlock` and `rlock lock release` for a holder.
///
/// The mailbox of the wait still listens: to end its subscriptions right after the acquire would cost a request. They
/// end by end_wait(), or when this class begins to listen. They end earlier if a few messages come, for example
/// because others release permits: these messages cost the server more than UNSUBSCRIBE.
class HoldMessages final : public Source {
 public:
  /// `listen_at`: when it starts to listen, which costs the server something. `of_wait`: see Acquired::mailbox.
  HoldMessages(Redis& redis, std::span<const Part> parts, TimePoint listen_at,
               std::shared_ptr<Mailbox> of_wait);

  /// The request to stop, with sender and reason; once set, it stays.
  const std::optional<std::string>& asked() {
    read_messages();
    return asked_;
  }

  /// The notice that our lock was removed by force, with sender and reason; once set, it stays.
  const std::optional<std::string>& removed() {
    read_messages();
    return removed_;
  }

  /// Has such a notice arrived since the last call? It may be sent before the removal, and again after it.
  bool take_removal() { return take(has_removal_); }

  /// Has a subscription been confirmed since the last call? Messages that came before it were missed.
  bool take_confirmation() { return take(has_confirmation_); }

  /// Has the owner announced since the last call that it has released our lock, elsewhere?
  bool take_release() { return take(has_release_); }

  /// Ends the subscriptions of the wait. While they exist, inspect counts us among the waiters, and a script
  /// that releases takes us for a waiter of another client. UNSUBSCRIBE leaves with the next call, so it costs
  /// no request.
  void end_wait();

  TimePoint wake_at() const override { return too_many_messages() ? TimePoint::min() : listen_at_; }
  void ready(short events, TimePoint now) override;

 private:
  bool too_many_messages() const;
  void read_messages();
  bool take(bool& flag) {
    read_messages();
    return std::exchange(flag, false);
  }

  Redis& redis_;
  std::vector<Channel> channels_;
  std::uint64_t messages_before_;  ///< Redis::wakeups() when the hold began
  TimePoint listen_at_;
  std::shared_ptr<Mailbox> mailbox_;  ///< null: we do not listen yet
  bool as_waiter_;                    ///< it listens to what the wait listened to
  std::optional<std::string> asked_, removed_;
  bool has_removal_ = false, has_confirmation_ = false, has_release_ = false;
  Membership membership_{redis_.loop(), *this};
};

}  // namespace rlock
