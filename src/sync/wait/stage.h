#pragma once

#include <optional>
#include <vector>

#include "redis/call.h"
#include "sync/kinds/together.h"
#include "sync/wait/acquire_request.h"

namespace rlock {

/// A call that undoes an acquire, and its followers.
struct UndoCall {
  Call call;
  std::vector<Call> followers;
};

/// What the server knows of the facts about us (Stage::followers()). If they are unknown there, a round writes them.
enum class FactsThere { known, unknown };

/// What one call asks for: one part of an acquire request, or all parts together. A request is acquired stage
/// by stage.
struct Stage {
  std::vector<PartOf<Waitable>> parts;
  std::optional<Together> together{};
  bool has_place = false;       ///< it was asked for, and may have a place in a line or queue
  std::vector<bool> reached{};  ///< the nodes that may have received the call but not its undo

  const Waitable& what() const {
    return together ? static_cast<const Waitable&>(*together) : *parts.front().lock;
  }
  std::vector<Call> followers() const;

  std::vector<UndoCall> undo_calls(Wake wake) const;
};

std::vector<Stage> stages_of(std::vector<PartOf<Waitable>> parts, const std::optional<Together>& together);

}  // namespace rlock
