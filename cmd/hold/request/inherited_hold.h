#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"

namespace rlock {

/// A hold of a process above us, from RLOCK_STACK. A nested run for the same key may join it. It is only a
/// hint: the server knows whether that owner still holds the key.
struct InheritedHold {
  std::string type;
  Owner owner;
  LockName key;
};

/// The holds in our RLOCK_STACK.
std::vector<InheritedHold> holds_above_us();

/// Parses RLOCK_STACK: one hold a line, "<type> <owner> <key>", the outermost first. Control characters,
/// blanks and '%' in the key are escaped as %XX. Any program may have written the variable, so lines of
/// another form are skipped, and only the innermost 16 holds of one key are read.
std::vector<InheritedHold> read_holds(std::string_view text);

/// Writes the same format.
std::string write_holds(const std::vector<InheritedHold>& holds);

/// Removes the innermost hold of this key. Returns false if there is none.
bool forget(std::vector<InheritedHold>& holds, const LockName& key);

/// The innermost hold of this key; null: there is none.
const InheritedHold* find_hold(const std::vector<InheritedHold>& holds, const LockName& key);

}  // namespace rlock
