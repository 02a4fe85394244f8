#include "base/as_given.h"

#include <functional>
#include <map>
#include <utility>

namespace rlock {
namespace {

/// option -> the variable or the line of a file that set it. A global, because messages in every layer name options.
std::map<std::string, std::string, std::less<>>& defaults() {
  static std::map<std::string, std::string, std::less<>> texts;
  return texts;
}

}  // namespace

void remember_default(std::string_view option, std::string text) {
  if (!text.empty()) {
    defaults().insert_or_assign(std::string{option}, std::move(text));
  } else if (const auto old = defaults().find(option); old != defaults().end()) {
    defaults().erase(old);
  }
}

std::string as_given(std::string_view option, std::string_view typed) {
  const auto found = defaults().find(option);
  return found == defaults().end() ? std::string{typed} : found->second;
}

}  // namespace rlock
