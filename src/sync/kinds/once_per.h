#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sync/calls/lockable.h"

namespace rlock {

/// A lock, fair or fenced lock for work that is done once in an interval (--once-per). A release that keeps
/// the key (ReleaseOptions::keep_until) also marks the work as done, in the same script, and wakes all
/// waiters. As long as the key stays, other clients see a held lock.
class OncePer final : public Lockable {
 public:
  /// `facts`: the client that does the work, for people: "root@web-1".
  OncePer(std::shared_ptr<const Lockable> lock, std::string facts)
      : lock_(std::move(lock)), facts_(std::move(facts)) {}

  /// Is the work marked as done, and does the key still stay?
  static Call status(const LockName& name);
  struct Done {
    Milliseconds since{0};  ///< the time since it was done, by the server's clock
    Milliseconds rest{0};   ///< the time for which the key still stays
    std::string facts;
  };
  /// Empty: the work is not done, or the reply is no answer to status().
  static std::optional<Done> read_status(const Reply& reply);

  std::optional<Call> undo(Wake wake) const override { return lock_->undo(wake); }
  bool takes_place() const override { return lock_->takes_place(); }
  std::vector<Channel> channels() const override { return lock_->channels(); }
  const Line* line(const Busy& busy) const override { return lock_->line(busy); }
  Line::Notice read_notice(const Message& message, const Busy& busy) const override {
    return lock_->read_notice(message, busy);
  }
  Pause pause() const override { return lock_->pause(); }
  Milliseconds poll_every() const override { return lock_->poll_every(); }
  const LockName& name() const override { return lock_->name(); }
  const Owner& owner() const override { return lock_->owner(); }
  Call renew() const override { return lock_->renew(); }
  Call still_ours(Milliseconds rest) const override { return lock_->still_ours(rest); }
  Call release(const ReleaseOptions& options) const override;
  HoldEntry hold_entry() const override { return lock_->hold_entry(); }

 private:
  Call encode(Milliseconds waited) const override { return lock_->ask(waited); }
  AcquireAnswer decode(const Reply& reply) const override { return lock_->read(reply); }
  Released decode_release(const Reply& reply) const override;

  std::shared_ptr<const Lockable> lock_;
  std::string facts_;
};

}  // namespace rlock
