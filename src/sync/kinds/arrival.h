#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sync/calls/claim.h"
#include "sync/calls/kind.h"
#include "sync/calls/lockable.h"

namespace rlock {

/// Announces the arrival of a waiter with --newest. Once the answer is Held, earlier waiters with --newest
/// will not get the lock, even if this waiter gives up. But if the owner of the claim holds the lock already,
/// it supersedes no waiter. Held::ticket is the waiter's ticket: see Claim. One Arrival is one request:
/// however often it is sent, the waiter arrives once. It cannot be undone.
class Arrival final : public Waitable {
 public:
  /// `who`: the waiter's description of itself, which superseded waiters print. The claim has the ticket that
  /// the waiter drew at another key, or no ticket yet.
  Arrival(Claim claim, const Kind& kind, const std::string& who);

  std::optional<Call> undo(Wake) const override { return std::nullopt; }
  std::vector<Channel> channels() const override { return {}; }
  const LockName& name() const override { return claim_.name; }

 private:
  Call encode(Milliseconds waited) const override;
  AcquireAnswer decode(const Reply& reply) const override;

  Claim claim_;
  const Kind* kind_;
  std::string who_;
  std::string request_;
};

}  // namespace rlock
