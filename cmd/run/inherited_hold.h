#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"

namespace rlock {

/// One hold of a process above us, as RLOCK_STACK tells it: what a nested run of the same key may join.
/// Only a hint: whether that owner still holds the key is for the server to say.
struct InheritedHold {
  std::string type;
  Owner owner;
  LockName key;
};

/// What RLOCK_STACK says in our environment.
std::vector<InheritedHold> holds_above_us();

/// Reads RLOCK_STACK: one hold a line, "<type> <owner> <key>", the outermost first; control characters,
/// blanks and '%' in the key stand as %XX. Lines that are none are skipped: the variable comes from outside.
std::vector<InheritedHold> read_holds(std::string_view text);

/// The same text again.
std::string write_holds(const std::vector<InheritedHold>& holds);

/// The name of one hold inside another one of the same owner, "<owner>#<8 hexadecimal digits>": by it `lock
/// release` says which of them has ended. And the owner in such a name; nothing: it is none.
Owner inner_hold_id(const Owner& owner);
std::optional<Owner> owner_in(const Owner& id);

/// Leaves out the innermost hold of this key. False: there is none.
bool forget(std::vector<InheritedHold>& holds, const LockName& key);

/// The innermost hold of this key; nothing if there is none.
const InheritedHold* find_hold(const std::vector<InheritedHold>& holds, const LockName& key);

}  // namespace rlock
