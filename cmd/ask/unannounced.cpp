#include "cmd/ask/unannounced.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/text.h"

namespace rlock {

void say_unannounced(std::string_view done, const std::string& why) {
  if (!why.empty()) warn(fmt::format("{}, but could not wake up its waiters: {}", done, sanitized(why)));
}

}  // namespace rlock
