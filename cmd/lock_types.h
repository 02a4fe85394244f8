#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "sync/lockable.h"

namespace rlock {

/// A kind of thing that `run` and `lock acquire` can hold. One line of the table per kind (cmd/lock_types.cpp).
struct LockType {
  std::string_view name;   ///< as --type takes it: "fair"
  std::string_view flags;  ///< how people type it: "-s, --shared, --read"; empty: only by --type
  std::string_view help;   ///< its line on the screen of `run`
  bool polls = false;      ///< nothing wakes its waiters
};

std::span<const LockType> lock_types();

/// Nothing if there is no such type.
const LockType* find_lock_type(std::string_view name);

/// "lock fair fenced ...", for help and completion.
std::string_view lock_type_names();

}  // namespace rlock
