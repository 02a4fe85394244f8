#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sync/calls/claim.h"
#include "sync/calls/line.h"
#include "sync/calls/lockable.h"

namespace rlock {

/// Acquires permits of Redisson's RSemaphore. Its permits have no holder: if a process dies, its permits are
/// lost until Pool::add puts them back. One Semaphore is one request: it acquires once, however often it is
/// sent. The owner of the claim is the waiter; the lease is not used.
class Semaphore final : public Waitable {
 public:
  /// If there is no semaphore: refuse, or wait for one.
  enum class Absent { refuse, await };

  Semaphore(Claim claim, std::int64_t count, Absent absent = Absent::refuse);

  /// After the undo the request acquires nothing more, even if a copy arrives late.
  std::optional<Call> undo(Wake wake) const override;
  /// True even if we do not wait: otherwise a late copy of the call could take permits that no client gives
  /// back.
  bool takes_place() const override { return true; }

  std::vector<Channel> channels() const override { return {line_.releases()}; }
  const Line* line(const Busy& busy) const override { return busy.position ? &line_ : nullptr; }
  const LockName& name() const override { return claim_.name; }
  const Owner* asker() const override { return &claim_.owner; }

  /// Where an observer sees that we wait. No record tells who holds the permits of a semaphore.
  HoldEntry hold_entry() const { return {claim_.name.str(), claim_.owner.str(), line_.waiting()}; }

 private:
  Call encode(Milliseconds waited) const override;
  AcquireAnswer decode(const Reply& reply) const override;
  Values values() const;

  Claim claim_;
  std::int64_t count_;
  Absent absent_;
  Line line_;
  std::string request_;
};

}  // namespace rlock
