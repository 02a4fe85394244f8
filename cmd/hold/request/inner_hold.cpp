// A hold joins another hold of its owner, which counts both. The server remembers the request of the inner one. So its
// release, by name, counts down this hold and no other.

#include "cmd/hold/request/inner_hold.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "base/random.h"
#include "base/text.h"

namespace rlock {
namespace {

/// Digits in the request of an inner hold.
constexpr std::size_t kRequestDigits = 16;

}  // namespace

RequestId new_inner_request() { return RequestId{to_hex(random_bytes(kRequestDigits / 2))}; }

Owner name_of(const InnerHold& hold) {
  return Owner{fmt::format("{}#{}", hold.owner.str(), hold.request.str())};
}

std::optional<InnerHold> inner_hold_in(const Owner& name) {
  const std::string& text = name.str();
  const std::size_t sign = text.rfind('#');
  if (sign == std::string::npos || sign == 0 || text.size() - sign - 1 != kRequestDigits) return std::nullopt;
  if (text.find_first_not_of("0123456789abcdef", sign + 1) != std::string::npos) return std::nullopt;
  return InnerHold{Owner{text.substr(0, sign)}, RequestId{text.substr(sign + 1)}};
}

}  // namespace rlock
