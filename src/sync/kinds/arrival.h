#pragma once

#include <string>

#include "sync/kinds/claim.h"
#include "sync/kinds/kind.h"
#include "sync/kinds/lockable.h"

namespace rlock {

/// The coming of a waiter with --newest. Once it is Held, whoever came before it with --newest will not get the lock,
/// whatever becomes of this waiter; and Held::fence is its ticket: see Claim. One Arrival is one request: it arrives
/// once, however often it is sent. It cannot be undone.
class Arrival final : public Waitable {
 public:
  /// `who`: what it says of itself, to those that it supersedes. The claim has the ticket that it has drawn at another
  /// key, or none yet.
  Arrival(Claim claim, const Kind& kind, const std::string& who);

  using Waitable::ask;
  Call ask(Milliseconds waited) const override;
  std::optional<Call> undo(Wake) const override { return std::nullopt; }
  std::vector<Channel> channels() const override { return {}; }
  const LockName& name() const override { return claim_.name; }

 private:
  Attempt decode(const Reply& reply) const override;

  Claim claim_;
  const Kind* kind_;
  std::string who_;
  std::string request_;
};

}  // namespace rlock
