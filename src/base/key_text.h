#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/names.h"

namespace rlock {

/// How users type keys: without the prefix (--prefix).

/// Called once, after the options were read. `options`: the options that another command needs to reach the same
/// server, with a blank at the end; users paste them before a KEY. Empty: none are needed.
void set_key_text(std::string prefix, std::string options);

/// The key as a user types it, without the prefix. Empty if the name does not begin with the prefix, or is the
/// prefix, because a user cannot type such a key.
std::optional<std::string> typed(const LockName& name);

/// For people: typed(), else the full name. as_typed() does not sanitize; quoted() does, and adds single
/// quotes: 'deploy'.
std::string as_typed(const LockName& name);
std::string quoted(const LockName& name);

/// "'a', 'b'"
std::string quoted(const std::vector<LockName>& names);

/// Shell words by which another command of this user reaches the key: `--prefix app: deploy`. They contain no
/// password.
std::string words_for(const LockName& name);

}  // namespace rlock
