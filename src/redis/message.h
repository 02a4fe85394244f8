#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>

#include "base/names.h"

namespace rlock {

/// A subscription to a channel, by SUBSCRIBE or, if sharded, by SSUBSCRIBE.
struct Subscription {
  Channel channel;
  bool sharded = false;
  friend auto operator<=>(const Subscription&, const Subscription&) = default;
};

/// A message on a channel, or a confirmed subscription to it.
struct Message {
  Channel channel;
  std::optional<std::string> text;  ///< the beginning of its text; empty: a subscription was confirmed
};

/// If nobody takes the messages, only the newest are kept, because in a flood they matter most.
inline constexpr std::size_t kMessagesKept = 16;

}  // namespace rlock
