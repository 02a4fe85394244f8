#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sync/kinds/lockable.h"

namespace rlock {

/// Several things to take, all of them or none, in one script: for keys that one server can look at in one
/// go. What was taken is then kept and given back one by one, as if it had been taken so.
class Together final : public Waitable {
 public:
  /// Nothing where the members cannot be taken by one script:
  /// they are of different kinds, or of one that has none.
  /// REQUIRES: the members outlive it; at least one.
  static std::optional<Together> of(std::span<const Lockable* const> members);

  using Waitable::ask;
  Call ask(Milliseconds waited) const override;
  /// Of all, by the script that took them, which wakes nobody. To wake waiters undo the members.
  std::optional<Call> undo(Wake wake) const override;
  bool queues() const override { return members_.front()->queues(); }
  std::vector<Channel> channels() const override;     ///< of all of them
  const Line* line(const Busy& busy) const override;  ///< of the busy one
  Line::Heard hear(const Message& message, const Busy& busy) const override;
  const Owner* asker() const override { return members_.front()->asker(); }
  Pause pause() const override { return members_.front()->pause(); }
  const LockName& name() const override { return members_.front()->name(); }

 private:
  Attempt decode(const Reply& reply) const override;  ///< Held: with one of each member
  const Lockable* busy_one(const Busy& busy) const;
  Attempt decode_held(const Reply& answers) const;
  Together(std::span<const Lockable* const> members, const Script& script)
      : members_(members.begin(), members.end()), script_(&script) {}

  std::vector<const Lockable*> members_;
  const Script* script_;
};

}  // namespace rlock
