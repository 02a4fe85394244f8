#pragma once

#include <optional>
#include <string>

#include "base/names.h"

namespace rlock {

/// A message on a channel, or a confirmed subscription to it.
struct Message {
  Channel channel;
  std::optional<std::string> text;  ///< the beginning of its text; empty: a subscription was confirmed
};

}  // namespace rlock
