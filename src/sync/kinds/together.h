#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sync/calls/lockable.h"

namespace rlock {

/// Several keys acquired by one script, all of them or none. The keys must lie on one server. Afterwards each
/// key is renewed and released by itself.
class Together final : public Waitable {
 public:
  /// Empty: the members are of different kinds, or their kind has no such script.
  /// REQUIRES: at least one member; the members outlive this object.
  static std::optional<Together> of(std::span<const Lockable* const> members);

  /// With Wake::nobody: the call that undoes all members at once. With Wake::waiters: empty, because each
  /// member must be undone by itself.
  std::optional<Call> undo(Wake wake) const override;
  bool takes_place() const override { return members_.front()->takes_place(); }
  std::vector<Channel> channels() const override;     ///< the channels of all members
  const Line* line(const Busy& busy) const override;  ///< the line of the busy member
  Line::Notice read_notice(const Message& message, const Busy& busy) const override;
  const Owner* asker() const override { return members_.front()->asker(); }
  Pause pause() const override { return members_.front()->pause(); }
  const LockName& name() const override { return members_.front()->name(); }

 private:
  Call encode(Milliseconds waited) const override;
  AcquireAnswer decode(const Reply& reply) const override;  ///< Held: has an answer for each member
  const Lockable* busy_one(const Busy& busy) const;
  AcquireAnswer decode_held(const Reply& answers) const;
  Together(std::span<const Lockable* const> members, const Script& script)
      : members_(members.begin(), members.end()), script_(&script) {}

  std::vector<const Lockable*> members_;
  const Script* script_;
};

}  // namespace rlock
