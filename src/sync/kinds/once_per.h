#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sync/kinds/lockable.h"

namespace rlock {

/// A lock, fair or fenced lock whose work is to be done once in a while (--once-per): a release that keeps
/// the key (ReleaseOptions::keep_until) also marks it as done, in the same script, and wakes all who wait. To
/// other clients the key looks held until then.
class OncePer final : public Lockable {
 public:
  /// `facts`: who does it, for people: "root@web-1".
  OncePer(std::shared_ptr<const Lockable> lock, std::string facts)
      : lock_(std::move(lock)), facts_(std::move(facts)) {}

  /// Is it done, and does whoever has done it keep the key?
  static Call status(const LockName& name);
  struct Done {
    Milliseconds since{0};  ///< so long ago, by the server's clock
    Milliseconds rest{0};   ///< and for so long more
    std::string facts;
  };
  /// Nothing: it is not done, or the reply is no answer to that.
  static std::optional<Done> read_status(const Reply& reply);

  using Waitable::ask;
  Call ask(Milliseconds waited) const override { return lock_->ask(waited); }
  std::optional<Call> undo(Wake wake) const override { return lock_->undo(wake); }
  bool queues() const override { return lock_->queues(); }
  std::vector<Channel> channels() const override { return lock_->channels(); }
  const Line* line(const Busy& busy) const override { return lock_->line(busy); }
  Line::Heard hear(const Message& message, const Busy& busy) const override {
    return lock_->hear(message, busy);
  }
  Pause pause() const override { return lock_->pause(); }
  Milliseconds poll_every() const override { return lock_->poll_every(); }
  const LockName& name() const override { return lock_->name(); }
  const Owner& owner() const override { return lock_->owner(); }
  Call renew() const override { return lock_->renew(); }
  Call release(const ReleaseOptions& options) const override;
  Evidence evidence() const override { return lock_->evidence(); }

 private:
  Attempt decode(const Reply& reply) const override { return lock_->read(reply); }
  Released decode_release(const Reply& reply) const override;

  std::shared_ptr<const Lockable> lock_;
  std::string facts_;
};

}  // namespace rlock
