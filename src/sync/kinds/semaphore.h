#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sync/kinds/claim.h"
#include "sync/kinds/line.h"
#include "sync/kinds/lockable.h"

namespace rlock {

/// Taking permits of Redisson's RSemaphore. Nobody knows who has them: a process that dies takes them along,
/// and only Pool::add gives them back. One Semaphore is one request: it takes once, however often it is sent.
/// The owner of its claim is who waits; of the lease nothing is used.
class Semaphore final : public Waitable {
 public:
  /// Where there is no semaphore: it is refused, or waited for.
  enum class Absent { refuse, await };

  Semaphore(Claim claim, std::int64_t count, Absent absent = Absent::refuse);

  using Waitable::ask;
  Call ask(Milliseconds waited) const override;

  /// After this the request takes nothing any more, also when a copy of it arrives late.
  std::optional<Call> undo(Wake wake) const override;
  /// As if it did, also where we do not wait: a late copy of the call would take permits that nobody gives back.
  bool queues() const override { return true; }

  std::vector<Channel> channels() const override { return {line_.releases()}; }
  const Line* line(const Busy& busy) const override { return busy.position ? &line_ : nullptr; }
  const LockName& name() const override { return claim_.name; }
  const Owner* asker() const override { return &claim_.owner; }

  /// That we wait; that we have permits nobody can see.
  Evidence evidence() const { return {claim_.name.str(), claim_.owner.str(), line_.waiting()}; }

 private:
  Attempt decode(const Reply& reply) const override;
  Values values() const;

  Claim claim_;
  std::int64_t count_;
  Absent absent_;
  Line line_;
  std::string request_;
};

}  // namespace rlock
