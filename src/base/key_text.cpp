#include "base/key_text.h"

#include <utility>

#include "base/text.h"

namespace rlock {
namespace {

// Globals, because messages in every layer name keys. They are set when the servers are known, and they only change
// how a key is shown, not which key is meant.
std::string prefix_in_force, options_in_force;

}  // namespace

void set_key_text(std::string prefix, std::string options) {
  prefix_in_force = std::move(prefix);
  options_in_force = std::move(options);
}

std::optional<std::string> typed(const LockName& name) {
  const std::string& full = name.str();
  if (full.size() <= prefix_in_force.size() || !full.starts_with(prefix_in_force)) return std::nullopt;
  return full.substr(prefix_in_force.size());
}

std::string as_typed(const LockName& name) { return typed(name).value_or(name.str()); }

std::string quoted(const LockName& name) { return in_quotes(as_typed(name)); }

std::string quoted(const std::vector<LockName>& names) {
  return joined(names, ", ", [](const LockName& name) { return quoted(name); });
}

std::string words_for(const LockName& name) {
  const std::string key = as_typed(name);
  return options_in_force + (key.starts_with('-') ? "--key=" : "") + shell_quoted(key);
}

}  // namespace rlock
