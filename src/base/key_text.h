#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"

namespace rlock {

/// How users type keys: without the prefix that stands before every one of them.

/// Set once, when the options have been read. `options`: those that another command needs to reach the same
/// server, to be pasted before a KEY, with a blank behind.
void set_key_text(std::string prefix, std::string options);

/// As it is typed under the prefix in force. Nothing: it does not begin with that, and cannot be typed.
std::optional<std::string> typed(const LockName& name);

/// For people: typed(), else the full name; not sanitized. And sanitized, in single quotes: 'deploy'.
std::string as_typed(const LockName& name);
std::string quoted(const LockName& name);

/// "'a', 'b'"
std::string quoted(const std::vector<LockName>& names);

/// The words by which another command of the same user reaches the key, for a shell: `--prefix app: deploy`.
/// No password.
std::string words_for(const LockName& name);

/// The same without a key: empty, or with a blank behind.
const std::string& words_for_keys();

}  // namespace rlock
