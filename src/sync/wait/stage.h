#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "redis/call.h"
#include "sync/kinds/together.h"
#include "sync/wait/wish.h"

namespace rlock {

/// A part of a wish as a wait sees it: it need not have an owner.
struct Item {
  std::shared_ptr<const Waitable> lock;
  std::vector<Call> followers{};
  std::vector<Call> release_followers{};
};

/// A call that undoes an acquire, and what follows it.
struct UndoCall {
  Call call;
  std::vector<Call> followers;
};

/// What one call asks for: one part of a wish, or all parts together. A wish is taken stage by stage.
struct Stage {
  std::vector<Item> items;
  std::optional<Together> together{};
  std::size_t first = 0;        ///< the number of its first part in the wish
  bool queued = false;          ///< it was asked for, and that may have got us a place in a queue
  std::vector<bool> reached{};  ///< nodes that may have received the call, and nothing that undoes it

  const Waitable& what() const {
    return together ? static_cast<const Waitable&>(*together) : *items.front().lock;
  }
  std::vector<Call> followers() const;

  std::vector<UndoCall> undo_calls(Wake wake) const;
};

std::vector<Stage> stages_of(std::vector<Item> items, const std::optional<Together>& together);

}  // namespace rlock
