#pragma once

#include "sync/kinds/answers.h"
#include "sync/kinds/claim.h"
#include "sync/kinds/lockable.h"
#include "sync/kinds/requests.h"

namespace rlock {

/// RReadWriteLock: readers share it, a writer has it alone. What its two halves have in common.
///
/// A writer may read too and then give up writing (downgrade): its own read hold is a Hold::another. The
/// other way round is refused, since it would wait for itself.
class ReadWriteLock : public Lockable {
 public:
  using Waitable::ask;
  Call ask(Milliseconds waited) const override;
  std::optional<Call> undo(Wake wake) const override;

  Call renew() const override;

  Call release(const ReleaseOptions& options) const override;

  const LockName& name() const override { return claim_.name; }
  const Owner& owner() const override { return claim_.owner; }
  std::vector<Channel> channels() const override;
  const Line* line(const Busy& busy) const override { return busy.position ? &line_ : nullptr; }
  bool queues() const override { return line_.queues() && hold_ == Hold::first; }

  /// Removes the lock, whoever reads or writes; only when `owner` does, where one is given.
  static Call force(const LockName& name, const Owner& owner, PubSub pub_sub);

 protected:
  Attempt decode(const Reply& reply) const override;
  Released decode_release(const Reply& reply) const override;

  /// What differs: the scripts, and the keys that they are given before the one of a request.
  struct Half {
    const Script* acquire;
    const Script* renew;
    const Script* release;
    std::vector<std::string> keys;

    bool single_key() const noexcept { return keys.size() == 1; }
  };
  ReadWriteLock(Claim claim, Hold hold, Half half);

  const Claim& claim() const noexcept { return claim_; }
  const Line& line() const noexcept { return line_; }

 private:
  Call release_call(const ReleaseOptions& options, Way way) const;

  Claim claim_;
  Hold hold_;
  Half half_;
  HoldRequests requests_;
  Line line_;
};

class ReadLock final : public ReadWriteLock {
 public:
  explicit ReadLock(const Claim& claim, Hold hold = Hold::first);

  Evidence evidence() const override { return {name().str(), owner().str(), line().waiting()}; }

 protected:
  Released decode_release(const Reply& reply) const override;
};

class WriteLock final : public ReadWriteLock {
 public:
  explicit WriteLock(const Claim& claim, Hold hold = Hold::first);

  Evidence evidence() const override { return {name().str(), owner().str() + ":write", line().waiting()}; }
};

}  // namespace rlock
