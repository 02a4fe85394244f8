#pragma once

#include <span>
#include <string_view>

#include "base/names.h"
#include "redis/message.h"

namespace rlock {

/// A synchronizer, as it is found under a key: a row of the table of kinds, which has names and facts. What can
/// be done with a key of a kind stands in kind_actions.h.
struct Kind {
  /// How holders are stored under the key.
  enum class Layout {
    owners,               ///< a hash: owner -> holds
    readers_and_writers,  ///< the same with a mode, and owner:write for who writes
    token,                ///< text: the owner
    number,               ///< how many; who has them is not to be seen there
  };

  std::string_view name;  ///< in JSON and in text: "read-write"
  std::string_view noun;  ///< "a read/write lock"
  std::string_view
      stored_as;  ///< what lua/shared/redis/kind_of says of it, and of all that are stored like it
  Layout layout;
  std::string_view as_stored{};  ///< for people, where only `stored_as` is known; empty: the noun
  std::string_view as_found{};   ///< for people, where the key was inspected; empty: the noun
  std::string_view remedy{};     ///< how to take this instead; empty: not by run or lock acquire

  /// The kind that it cannot be told from when nothing stands beside the key; nothing: it is told from all.
  const Kind* like = nullptr;

  /// Where its releases are announced; nothing: nowhere.
  Channel (*channel)(const LockName& name) = nullptr;

  /// The plainest kind that looks like this one.
  const Kind& plainest() const noexcept { return like != nullptr ? *like : *this; }
};

namespace kinds {
extern const Kind lock, fair, fenced, read_write, plain, semaphore, permit, latch;
}

/// Every kind, the plainest of those that are stored alike first.
std::span<const Kind* const> all_kinds();

/// The plainest kind of which lua/shared/redis/kind_of says this word. Nothing: it is nothing that rlock knows.
const Kind* kind_stored_as(std::string_view word);

}  // namespace rlock
