#pragma once

#include <optional>
#include <string>

#include "base/names.h"

namespace rlock {

/// What came on a channel.
struct Message {
  Channel channel;
  std::optional<std::string> text;  ///< its beginning; nothing: the (re-)subscription was confirmed
};

}  // namespace rlock
