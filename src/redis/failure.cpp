#include "redis/failure.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace rlock {

Failure failure_of(const Reply& error) {
  static constexpr std::array<std::string_view, 4> kDenied{"NOAUTH", "WRONGPASS", "NOPERM", "DENIED"};
  const std::string text = sanitized(error.text());
  const auto starts = [&](std::string_view code) { return error.is_error(code); };
  if (std::ranges::any_of(kDenied, starts) ||
      text.find("The user executing the script") != std::string::npos) {
    return {Error::denied, text};
  }
  if (starts("WRONGTYPE")) return {Error::wrong_type, text};
  if (starts("CROSSSLOT")) return {Error::config, text};
  return {Error::unreachable, text};
}

bool is_passing(const Reply& error) {
  static constexpr std::array<std::string_view, 8> kPassing{
      "LOADING", "BUSY", "MASTERDOWN", "TRYAGAIN", "MISCONF", "CLUSTERDOWN", "NOREPLICAS", "OOM"};
  return std::ranges::any_of(kPassing, [&](std::string_view code) { return error.is_error(code); });
}

}  // namespace rlock
