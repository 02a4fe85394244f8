#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/names.h"

namespace rlock {

/// A message on a channel, or a confirmed subscription to it.
struct Message {
  Channel channel;
  std::optional<std::string> text;  ///< the beginning of its text; empty: a subscription was confirmed
};

/// If nobody takes the messages, only the newest are kept, because in a flood they matter most.
inline constexpr std::size_t kMessagesKept = 16;

}  // namespace rlock
